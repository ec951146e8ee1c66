#pragma once
// A StateStore keeps the states of an executable in memory of their own from run to run. Two stores may share
// the memory of states.
#include <atomic>
#include <mutex>

#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::execute::cpu {

class StateStore {
  public:
    // Allocates the memory of the plan's states and fills in their first values. A state without one waits
    // for set(). `consumed` is null, or the same graph, which loses each first value when it is copied.
    // Throws bad_alloc.
    void prepare(const graph::Graph& graph, const plan::Plan& plan, graph::Graph* consumed);

    [[nodiscard]] std::size_t count() const { return states_.size(); }
    // Returns where the plan's `offset` into the memory of states lies. All states have memory.
    [[nodiscard]] std::byte* at(std::int64_t offset) const;
    [[nodiscard]] std::size_t size() const { return own_bytes_; }  // without what another store lends
    // These do what Executable says.
    [[nodiscard]] Result<graph::Tensor> get(std::size_t i) const;
    Result<void> set(std::size_t i, const graph::Tensor& value);
    [[nodiscard]] Result<StateMemory> memory(std::size_t i);
    // Frees the memory; every state waits for set() then.
    void rest();
    // Lets the states that `owner` has too, by name and type, lie in its memory. Errors: out_of_memory.
    Result<void> share(StateStore& owner);
    [[nodiscard]] Bytes copied() const { return Bytes(copied_.load()); }

    // Calls `run` while no other run is under way. Errors: missing_entry if a state has no value; those of
    // `run`.
    Result<void> hold(const std::function<Result<void>()>& run);

  private:
    struct Slot {
        Buffer memory;
        bool known = false;  // it has a value
    };
    struct Kept {
        std::string name;
        plan::Format format;
        graph::Dims dims;
        std::int64_t offset = 0, bytes = 0;
        std::shared_ptr<Slot> slot = {};  // null while the state rests
        graph::Tensor every_run = {};     // the constant that every run leaves
    };
    [[nodiscard]] Result<void> check(std::size_t i) const;
    // Gives new memory to these states. Throws bad_alloc.
    void allocate(const std::vector<Kept*>& states);
    [[nodiscard]] Result<void> have_memory();

    std::vector<Kept> states_;  // by offset
    std::size_t own_bytes_ = 0;
    std::int64_t copied_by_a_run_ = 0;
    std::atomic<std::int64_t> copied_ = 0;
    mutable std::mutex mutex_;
};

}  // namespace viridian::execute::cpu
