#pragma once
// A device runs plans. The host processor is one; cuda:N is another. Runs go into queues and may be done
// later than submit() returns; the processor's queue runs them inline. Plans keep their weights and
// activations in memory of the device themselves; what goes in and comes out are tensors of the host.
#include <functional>
#include <memory>
#include <span>

#include "viridian/execute/in_turn.hpp"
#include "viridian/plan/plan.hpp"
#include "viridian/trace/recorder.hpp"

namespace viridian::execute {

// What may be offered beyond exact f32 kernels.
struct Allowances {
    bool bf16 = false;
    bool winograd = true;  // larger rounding error; the proof's tolerance knows (docs/method.md, 4)
};

// How one kernel is timed: weights cold, activations warm, until the 95 % interval of the median is within
// `precision` or the budget is spent (docs/method.md, 1).
struct TimingProtocol {
    double precision = 0.02;
    Seconds budget{0.25};
    std::int64_t at_least = 5;
    // The network's weights fit into the last-level cache together: a kernel finds its own there, not in
    // memory.
    bool cached_weights = false;
};

struct Timing {
    Seconds minimum, median, low, high;
    std::int64_t count = 0;
    Bytes workspace;
};

// Runs, one after the other in the order they were submitted. Queues of one device may overlap.
class Queue {
  public:
    enum class Mark : std::uint64_t {};
    virtual ~Queue() = default;
    // Behind everything submitted so far.
    [[nodiscard]] virtual Mark record() = 0;
    // Until everything before the mark is done. Errors: the first of those runs.
    virtual Result<void> wait(Mark mark) = 0;
};

// A plan made ready: weights packed, memory allocated. run() allocates nothing.
class Executable {
  public:
    virtual ~Executable() = default;
    // `inputs` and `outputs` in the graph's order, row-major, of the plan's boundary types.
    virtual Result<void> run(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs) = 0;
    // The same behind what `queue`, of this device, has to do; the tensors stay until it is done. Errors:
    // those known at once; the others come from Queue::wait. Without queues of its own a device runs it here.
    virtual Result<void> submit(Queue& queue, std::span<const graph::Tensor> inputs,
                                std::span<graph::Tensor> outputs);
    // From now on every step of every run is recorded; null stops it.
    virtual void record(trace::Recorder* recorder) = 0;
    [[nodiscard]] virtual Bytes memory() const = 0;  // weights, arena and scratch
};

class Device {
  public:
    virtual ~Device() = default;
    [[nodiscard]] virtual std::string name() const = 0;         // "cpu", "cuda:0"
    [[nodiscard]] virtual std::string fingerprint() const = 0;  // equal: costs may be shared
    [[nodiscard]] virtual std::string library() const = 0;      // "dnnl 2.6.3"
    [[nodiscard]] virtual int threads() const = 0;
    [[nodiscard]] virtual Bytes capacity() const { return {}; }  // memory there is in all; zero: not known
    [[nodiscard]] virtual std::unique_ptr<Queue> make_queue();

    // Every kernel that does the region as one; single nodes always end in the reference kernel. Empty: none
    // does.
    [[nodiscard]] virtual Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                                                    const plan::Region& region) = 0;
    // Errors: unsupported (a kernel this device lacks), out_of_memory (more activations than `capacity`).
    [[nodiscard]] virtual Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph,
                                                                      const plan::Plan& plan) = 0;
    // prepare() for whoever keeps `graph` for its names and types alone: the bytes of a constant may go once
    // the last kernel that reads it is ready, so that originals and packed weights do not add up.
    [[nodiscard]] virtual Result<std::unique_ptr<Executable>> prepare_consuming(graph::Graph& graph,
                                                                                const plan::Plan& plan) {
        return prepare(graph, plan);
    }
    [[nodiscard]] virtual Result<Timing> time(const graph::Graph& graph, const plan::Region& region,
                                              const plan::Choice& choice, const TimingProtocol& protocol) = 0;
    [[nodiscard]] virtual Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from,
                                                         const plan::Format& to,
                                                         const TimingProtocol& protocol) = 0;
    // The plan's steps, to be timed in rotation; refers to this device, graph and plan. A device that knows
    // no better asks `time` for each. Errors: those of preparing.
    [[nodiscard]] virtual Result<std::unique_ptr<InTurn>> in_turn(const graph::Graph& graph,
                                                                  const plan::Plan& plan);
    // How long data takes from one thread to the next, now. A hypervisor may move a virtual processor to
    // another core complex and back: times taken at different distances do not compare. Zero: not known, or
    // one thread.
    [[nodiscard]] virtual Seconds hand_over() { return {}; }
};

}  // namespace viridian::execute
