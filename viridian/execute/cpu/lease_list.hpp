#pragma once
// A LeaseList lends its values to the threads that ask, each to one at a time. It grows until it is cleared,
// and takes no lock, so that a child of fork() never waits for a thread that stayed behind.
#include <atomic>
#include <cstdint>
#include <memory>

namespace viridian::execute::cpu {

template <class T>
class LeaseList {
    struct Entry {
        std::unique_ptr<T> value;
        std::uint32_t position = 0;
        std::atomic<bool> busy = true;
        std::atomic<Entry*> next = nullptr;
    };

  public:
    LeaseList() = default;
    ~LeaseList() { clear(); }
    LeaseList(const LeaseList&) = delete;
    LeaseList& operator=(const LeaseList&) = delete;

    // A Lease holds a value that no other thread uses while the object lives.
    class Lease {
      public:
        // Takes the first idle value. If all are in use, `make` makes another one, a std::unique_ptr.
        template <class Make>
        Lease(LeaseList& list, const Make& make) : entry_(list.idle()) {
            if (entry_ == nullptr) entry_ = list.add(make());
        }
        ~Lease() { entry_->busy.store(false, std::memory_order_release); }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        [[nodiscard]] T& operator*() const { return *entry_->value; }
        [[nodiscard]] T* operator->() const { return entry_->value.get(); }
        [[nodiscard]] std::uint32_t position() const { return entry_->position; }  // in the list

      private:
        Entry* entry_;
    };

    // Frees all values. None is in use meanwhile.
    void clear() {
        for (Entry* entry = first_.exchange(nullptr); entry != nullptr;) {
            const std::unique_ptr<Entry> goes(entry);
            entry = goes->next.load();
        }
    }

    // Calls `f` with every value, in use or not.
    template <class Function>
    void for_each(const Function& f) const {
        for (const Entry* entry = first_.load(); entry != nullptr; entry = entry->next.load())
            f(*entry->value);
    }

  private:
    Entry* idle() {  // now busy; null if there is none
        for (Entry* entry = first_.load(std::memory_order_acquire); entry != nullptr;
             entry = entry->next.load(std::memory_order_acquire))
            if (!entry->busy.load(std::memory_order_relaxed) &&
                !entry->busy.exchange(true, std::memory_order_acquire))
                return entry;
        return nullptr;
    }

    Entry* add(std::unique_ptr<T> value) {
        auto entry = std::make_unique<Entry>();
        entry->value = std::move(value);
        std::atomic<Entry*>* link = &first_;
        for (Entry* found = nullptr;
             !link->compare_exchange_weak(found, entry.get(), std::memory_order_acq_rel); found = nullptr) {
            if (found == nullptr) continue;
            link = &found->next;
            ++entry->position;
        }
        return entry.release();
    }

    std::atomic<Entry*> first_ = nullptr;
};

}  // namespace viridian::execute::cpu
