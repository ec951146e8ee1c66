#pragma once
// A Prefetch makes values on a thread of its own, a few ahead of their use, so that reading and converting
// samples happen while the model computes.
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "viridian/base/result.hpp"

namespace viridian::data {

template <class T>
class Prefetch {
  public:
    // Returns the next value, or nothing after the last one. It is called on the thread, one call at a time.
    using Make = std::function<Result<std::optional<T>>()>;

    // `depth` values at most, at least one, wait to be taken.
    Prefetch(Make make, std::size_t depth)
        : make_(std::move(make)), depth_(depth == 0 ? 1 : depth), thread_([this] { run(); }) {}
    Prefetch(const Prefetch&) = delete;
    Prefetch& operator=(const Prefetch&) = delete;
    // Waits at most for the value that is being made.
    ~Prefetch() {
        cancel();
        thread_.join();
    }

    // Waits for the next value and takes it; nothing after the last one. Errors: that of `make`, after all
    // values that were made before it, and again on every later call; cancelled. An exception of `make` comes
    // out here too: std::bad_alloc as the error out_of_memory, any other as itself.
    Result<std::optional<T>> next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return cancelled_ || done_ || !ready_.empty(); });
        if (cancelled_)
            return fail(ErrorCode::cancelled, "start it again to go on", "reading the data was stopped");
        if (!ready_.empty()) {
            std::optional<T> value(std::move(ready_.front()));
            ready_.pop_front();
            changed_.notify_all();
            return value;
        }
        if (exception_) std::rethrow_exception(exception_);
        if (error_) return *error_;
        return std::optional<T>();
    }

    // Ends the thread after the value that is being made, and lets `next` return `cancelled`. Any thread may
    // call it, at any time.
    void cancel() {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
        ready_.clear();
        changed_.notify_all();
    }

  private:
    void run() {
        bool more = true;
        while (more) {
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [this] { return cancelled_ || ready_.size() < depth_; });
                if (cancelled_) return;
            }
            more = make_one();
        }
    }

    // Makes a value and queues it, or notes why there is none.
    bool make_one() {
        std::optional<Error> error;
        std::exception_ptr exception;
        std::optional<T> value;
        try {
            Result<std::optional<T>> made = make_();
            if (made.ok())
                value = std::move(made).value();
            else
                error = std::move(made).error();
        } catch (const std::bad_alloc&) {
            error = fail(ErrorCode::out_of_memory, "choose a smaller batch",
                         "there is no memory for the next batch");
        } catch (...) {
            exception = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        const bool more = value.has_value();
        if (more && !cancelled_) ready_.push_back(std::move(*value));
        error_ = std::move(error);
        exception_ = exception;
        done_ = !more;
        changed_.notify_all();
        return more;
    }

    Make make_;
    std::size_t depth_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<T> ready_;
    std::optional<Error> error_;
    std::exception_ptr exception_;
    bool done_ = false, cancelled_ = false;
    std::thread thread_;  // last: it uses all of the others
};

}  // namespace viridian::data
