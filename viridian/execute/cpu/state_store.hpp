#pragma once
// A StateStore keeps the states of an executable in memory of their own from run to run.
#include <atomic>
#include <mutex>

#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::execute::cpu {

class StateStore {
  public:
    // Allocates the memory of the plan's states and fills in their first values. A state without one waits
    // for set(). Throws bad_alloc.
    void prepare(const graph::Graph& graph, const plan::Plan& plan);

    [[nodiscard]] std::size_t count() const { return states_.size(); }
    [[nodiscard]] std::byte* data() { return memory_.data(); }
    [[nodiscard]] std::size_t size() const { return memory_.size(); }
    // These do what Executable says.
    [[nodiscard]] Result<graph::Tensor> get(std::size_t i) const;
    Result<void> set(std::size_t i, const graph::Tensor& value);
    [[nodiscard]] Result<StateMemory> memory(std::size_t i);
    // Frees the memory; every state waits for set() then.
    void rest();
    [[nodiscard]] Bytes copied() const { return Bytes(copied_.load()); }

    // Calls `run` while no other run is under way. Errors: missing_entry if a state has no value; those of
    // `run`.
    Result<void> hold(const std::function<Result<void>()>& run);

  private:
    struct Kept {
        std::string name;
        plan::Format format;
        graph::Dims dims;
        std::int64_t offset = 0, bytes = 0;
        bool known = false;         // it has a value
        graph::Tensor every_run{};  // the constant that every run leaves
    };
    [[nodiscard]] Result<void> check(std::size_t i) const;
    [[nodiscard]] Result<void> have_memory();

    std::vector<Kept> states_;
    std::size_t bytes_ = 0;
    Buffer memory_;  // empty while the states rest
    std::int64_t copied_by_a_run_ = 0;
    std::atomic<std::int64_t> copied_ = 0;
    mutable std::mutex mutex_;
};

}  // namespace viridian::execute::cpu
