#pragma once
// RunState holds the memory of one run of an executable. Runs that overlap take a state each; kernels and
// packed weights are shared by all.
#include <algorithm>
#include <atomic>

#include "viridian/execute/cpu/bound_step.hpp"

namespace viridian::execute::cpu {

// A StepLayout says where a step of every run state finds its inputs and outputs: as an offset in bytes
// into the arena, or as `outside` if each run brings the address along.
struct StepLayout {
    static constexpr std::int64_t outside = -1;
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::int64_t> inputs, outputs;
    // Returns whether any address changes from run to run.
    [[nodiscard]] bool moves() const {
        return std::ranges::count(inputs, outside) + std::ranges::count(outputs, outside) > 0;
    }
};

struct RunState {
    // Allocates the memory, and binds the steps that have no outside address. Throws bad_alloc.
    RunState(const std::vector<StepLayout>& layouts, std::size_t arena_bytes, std::size_t workspace_bytes);

    Buffer arena, workspace;
    std::vector<BoundStep> steps;
    std::uint32_t lane = 0;  // the state's position in its list
};

// RunStates is a list of run states that only grows. It takes no lock, so that a child of fork() never
// waits for a thread that stayed behind.
class RunStates {
    struct Slot {
        std::unique_ptr<RunState> state;
        std::atomic<bool> busy = true;
        std::atomic<Slot*> next = nullptr;
    };

  public:
    RunStates() = default;
    ~RunStates();
    RunStates(const RunStates&) = delete;
    RunStates& operator=(const RunStates&) = delete;

    // A Lease holds a state that no other run uses while the object lives.
    class Lease {
      public:
        // Takes the first idle state. If all are in use, `make` makes another one.
        template <class Make>
        Lease(RunStates& states, const Make& make) : entry_(states.idle()) {
            if (entry_ == nullptr) entry_ = states.add(make());
        }
        ~Lease() { entry_->busy.store(false, std::memory_order_release); }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        [[nodiscard]] RunState& state() const { return *entry_->state; }

      private:
        Slot* entry_;
    };

    [[nodiscard]] std::size_t bytes() const;  // arenas and scratch of all states

  private:
    [[nodiscard]] Slot* idle();  // now busy; null if there is none
    [[nodiscard]] Slot* add(std::unique_ptr<RunState> state);

    std::atomic<Slot*> first_ = nullptr;
};

}  // namespace viridian::execute::cpu
