#include "viridian/execute/cpu/team.hpp"

#include <pthread.h>
#include <sys/single_threaded.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

// A thread that runs one function after the other for the thread that owns it.
class Helper {
  public:
    Helper() : thread_([this] { work(); }) {}
    ~Helper() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

    void call(const std::function<void()>& f) {
        std::unique_lock lock(mutex_);
        task_ = &f;
        changed_.notify_one();
        done_.wait(lock, [&] { return task_ == nullptr; });
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return ends_ || task_ != nullptr; });
            if (task_ == nullptr) return;
            try {
                (*task_)();
            } catch (...) {
                thrown_ = std::current_exception();
            }
            task_ = nullptr;
            done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_, done_;
    const std::function<void()>* task_ = nullptr;
    std::exception_ptr thrown_;
    bool ends_ = false;
    std::thread thread_;  // last: it uses the others
};

thread_local std::unique_ptr<Helper> own_helper;
// Whether the workers of this thread's OpenMP team may have stayed in the process that forked this one.
thread_local bool team_stayed_behind = false;
bool forks_with_threads = false;

// A process that never had a second thread has no team that could stay behind.
void before_fork() { forks_with_threads = __libc_single_threaded == 0; }

void in_forked_child() {
    team_stayed_behind = team_stayed_behind || forks_with_threads;
    [[maybe_unused]] Helper* left = own_helper.release();  // its thread stayed behind too: nobody can join it
}

// Before main, because the team may be in use, by whomever, before the first device is made.
[[maybe_unused]] const int watches_forks = pthread_atfork(before_fork, nullptr, in_forked_child);

}  // namespace

bool needs_helper(int threads) { return threads > 1 && (team_stayed_behind || omp_in_parallel() != 0); }

void call_on_helper(const std::function<void()>& f) {
    if (!own_helper) own_helper = std::make_unique<Helper>();
    own_helper->call(f);
}

void refuse_team(int given, int wanted) {
    throw KernelFailure{fail(ErrorCode::device_failed, "ask for fewer threads, or raise OMP_THREAD_LIMIT",
                             "OpenMP starts {} threads, the device has {}", given, wanted)};
}

}  // namespace viridian::execute::cpu
