#pragma once
// Device is the interface of what runs plans. The host processor is one; GPUs (cuda:N) are planned. Runs go
// into queues and may be done later than submit() returns; the processor's queue runs them inline. Prepared
// plans keep their weights and activations in memory of the device; inputs and outputs are tensors of the
// host.
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "viridian/execute/step_timer.hpp"
#include "viridian/plan/plan.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::execute {

// Allowances name what a device may offer beyond sums of products in f32.
struct Allowances {
    bool bf16 = false;
    // These need fewer multiplications than the operators' own arithmetic. Winograd has a larger rounding
    // error, which the proof allows for (docs/method.md, 4).
    bool winograd = true;
    bool strassen = true;
};

// A TimingProtocol says how one kernel is timed (docs/method.md, 1). Its runs are repeated until half the
// 95 % interval of their median is within `precision` times the median, or until `budget` is spent, but
// `at_least` times.
struct TimingProtocol {
    double precision = 0.02;
    Seconds budget{0.25};
    std::int64_t at_least = 5;
    // `cached_weights` is true if the weights of the network fit into the last-level cache together, so
    // that a kernel finds its own there.
    bool cached_weights = false;
    // If true, the threads do not write the inputs anew before each run: nothing then passes from core to
    // core in a run, as little does in a long computation on data that stay where they are.
    bool inputs_stay = false;
};

// A Timing holds the times of `count` runs: the median with its 95 % interval, and the scratch of the
// kernel.
struct Timing {
    Seconds minimum, median, low, high;
    std::int64_t count = 0;
    Bytes workspace;
};

// A Window is called once with `runs`, and calls it once in turn: it measures something while they happen.
using Window = std::function<void(const std::function<void()>& runs)>;

// A Queue does runs one after the other, in the order in which they were submitted. Queues of one device
// may overlap.
class Queue {
  public:
    enum class Mark : std::uint64_t {};
    virtual ~Queue() = default;
    // Returns a mark behind everything that was submitted so far.
    [[nodiscard]] virtual Mark record() = 0;
    // Waits until everything before the mark is done. Errors: the first of those runs.
    virtual Result<void> wait(Mark mark) = 0;
};

// A StateMemory says where a state lies between runs, and how.
struct StateMemory {
    std::string name;
    std::span<std::byte> bytes;
    plan::Format format;
    graph::Dims dims;
};

// An Executable is a plan made ready: its weights are packed, its memory is allocated.
//
// Any number of threads may call run() at once; each call has memory of its own for activations, and all
// share the packed weights. A call that overlaps no other allocates nothing. The first time that n calls
// overlap, memory for another n - 1 runs is allocated; it stays until the executable goes.
//
// The states of the graph lie in memory of the executable from run to run, and begin with their first values.
// Every run reads them and leaves their new values. Runs of an executable with states do not overlap: a call
// waits for the one before. After a run that failed, the states may be those of half a run.
class Executable {
  public:
    virtual ~Executable() = default;
    // Computes `outputs` from `inputs`, which have the graph's order and the plan's boundary types and are
    // row-major. Errors: mismatch (other tensors), out_of_memory, those of the kernels.
    virtual Result<void> run(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs) = 0;
    // Puts a run into `queue`, of this device, behind what it has to do; the tensors stay until it is done.
    // Errors that are known at once are returned, the others come from Queue::wait. A device without queues
    // of its own runs at once.
    virtual Result<void> submit(Queue& queue, std::span<const graph::Tensor> inputs,
                                std::span<graph::Tensor> outputs);
    // Returns how many states there are. Their order is that of the graph.
    [[nodiscard]] virtual std::size_t state_count() const { return 0; }
    // Returns what state `i` is now, row-major. Errors: missing_entry (no such state, or it has no value).
    [[nodiscard]] virtual Result<graph::Tensor> state(std::size_t i) const;
    // Changes state `i` for the next run. Errors: missing_entry; mismatch (a tensor of another type).
    virtual Result<void> set_state(std::size_t i, const graph::Tensor& value);
    // Returns the memory of state `i`, which the caller may read and write while no run is under way. Errors:
    // missing_entry.
    [[nodiscard]] virtual Result<StateMemory> state_memory(std::size_t i);
    // Returns how many bytes all runs so far copied into states whose new values no kernel writes in place.
    [[nodiscard]] virtual Bytes copied_into_states() const { return {}; }
    // Records every step of every run from now on; null stops it. Call it while no run is under way. Runs
    // that overlap record as threads 0, 1, ... of the recorder; if it has fewer threads, the others are not
    // recorded.
    virtual void record(trace::Recorder* recorder) = 0;
    [[nodiscard]] virtual Bytes memory() const = 0;  // weights, and activations and scratch of all runs
};

// Returns state `i` where it lies: valid until the next run or change of the states. Errors: missing_entry.
[[nodiscard]] Result<graph::Tensor> state_view(Executable& executable, std::size_t i);

// NewStates says what run_from() returns of the new states: copies, or views as of state_view().
enum class NewStates : std::uint8_t { copies, views };

// These call run() with what graph::evaluate() takes and gives. `given` holds the inputs and then a tensor
// for every state. run_from() sets the states whose tensor is not empty, runs once, and returns the outputs
// and then the new states. run_on() leaves the states alone. Errors: mismatch (too few tensors), those of
// set_state and of run.
[[nodiscard]] Result<std::vector<graph::Tensor>> run_from(Executable& executable, const graph::Graph& graph,
                                                          std::span<const graph::Tensor> given,
                                                          NewStates states = NewStates::copies);
[[nodiscard]] Result<void> run_on(Executable& executable, std::span<const graph::Tensor> given,
                                  std::span<graph::Tensor> outputs);

// Returns empty tensors of the graph's output types, to run into. Errors: unsupported if a shape is not
// known.
[[nodiscard]] Result<std::vector<graph::Tensor>> output_tensors(const graph::Graph& graph);

// A Device offers, times and runs kernels. One thread at a time calls it; the executables that it prepared
// are free of this rule.
class Device {
  public:
    virtual ~Device() = default;
    [[nodiscard]] virtual std::string name() const = 0;         // "cpu", "cuda:0"
    [[nodiscard]] virtual std::string fingerprint() const = 0;  // equal: costs may be shared
    [[nodiscard]] virtual std::string library() const = 0;      // "dnnl 2.6.3"
    // Returns whether plans that were made with this library run here.
    [[nodiscard]] virtual bool runs_plans_of(std::string_view made_with) const {
        return made_with == library();
    }
    [[nodiscard]] virtual int threads() const = 0;
    // Returns the logical CPUs of the host on which the threads may run; none if that is not known.
    [[nodiscard]] virtual std::vector<int> processors() const { return {}; }
    [[nodiscard]] virtual Bytes capacity() const { return {}; }  // memory there is in all; zero: not known
    // Returns a queue of this device. A device without queues of its own returns one that runs at once.
    [[nodiscard]] virtual std::unique_ptr<Queue> make_queue();

    // Returns every kernel that computes the region as one, best known first. The list of a single node ends
    // in the reference kernel; the list of a chain may be empty. Errors: unsupported (a shape is not known).
    [[nodiscard]] virtual Result<std::vector<plan::Choice>> choices(const graph::Graph& graph,
                                                                    const plan::Region& region) = 0;
    // Returns the choice of `choice.key()` as `choices` would list it, or nothing if this device has no
    // such kernel for the region. `bf16` says whether bf16 counts as allowed, whatever the device itself
    // was allowed.
    [[nodiscard]] virtual std::optional<plan::Choice> offered(const graph::Graph& graph,
                                                              const plan::Region& region,
                                                              const plan::Choice& choice, bool bf16);
    // Makes `plan` ready to run on `graph`. Errors: unsupported (a kernel that this device lacks),
    // out_of_memory (more activations than `capacity`).
    [[nodiscard]] virtual Result<std::unique_ptr<Executable>> prepare(const graph::Graph& graph,
                                                                      const plan::Plan& plan) = 0;
    // Does the same for a caller who keeps `graph` for its names and types alone. The bytes of a constant may
    // go once the last kernel that reads it is ready, so that originals and packed weights do not add up.
    [[nodiscard]] virtual Result<std::unique_ptr<Executable>> prepare_consuming(graph::Graph& graph,
                                                                                const plan::Plan& plan) {
        return prepare(graph, plan);
    }
    // Times the kernel of `choice`. Errors: those of preparing it.
    [[nodiscard]] virtual Result<Timing> time(const graph::Graph& graph, const plan::Region& region,
                                              const plan::Choice& choice, const TimingProtocol& protocol) = 0;
    // Times the conversion of a tensor of `dims` between two formats. Errors: those of preparing it.
    [[nodiscard]] virtual Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from,
                                                         const plan::Format& to,
                                                         const TimingProtocol& protocol) = 0;
    // These repeat the kernel of `choice`, or a conversion, for at least `at_least`, so that `window` can
    // meter it. Everything is prepared before, and nothing but the runs happens while `runs` is under way:
    // weights come from where they do in time(), activations are random numbers that stay as they are. A
    // device without a way of its own runs time() inside the window. Errors: those of preparing.
    [[nodiscard]] virtual Result<void> repeat(const graph::Graph& graph, const plan::Region& region,
                                              const plan::Choice& choice, const TimingProtocol& protocol,
                                              Seconds at_least, const Window& window);
    [[nodiscard]] virtual Result<void> repeat_conversion(const graph::Dims& dims, const plan::Format& from,
                                                         const plan::Format& to, Seconds at_least,
                                                         const Window& window);
    // Prepares the plan's steps to be timed one by one. The result refers to this device, graph and plan. A
    // device without a timer of its own asks `time` for each step. Errors: those of preparing.
    [[nodiscard]] virtual Result<std::unique_ptr<StepTimer>> make_step_timer(const graph::Graph& graph,
                                                                             const plan::Plan& plan);
    // Measures how long data takes now from one thread to the next. A hypervisor may move a virtual
    // processor to another core complex and back; times that were taken at different latencies do not
    // compare. Zero means that it is not known, as on a busy machine, or that there is one thread.
    [[nodiscard]] virtual Seconds core_to_core_latency() { return {}; }
    // Returns this device on fewer threads, to price what its kernels take there; null if it has no such
    // choice. A choice of this device whose `threads` are these has that price, and wake_latency() where the
    // next one has more. Errors: those of making a device.
    [[nodiscard]] virtual Result<std::unique_ptr<Device>> on_threads(int) {
        return std::unique_ptr<Device>();
    }
    // Measures how long workers that sleep take to come when they are called. Zero means that it is not
    // known, or that there is one thread.
    [[nodiscard]] virtual Seconds wake_latency() { return {}; }
};

// Checks that a plan, wherever it comes from, asks for nothing but what the device offers: every region is
// one that plans may have, and every choice is one of its kernel's for that region (in bf16 if the plan
// rounds). Completes the choices' variants, which older files do not hold. Errors: mismatch, naming the
// node.
[[nodiscard]] Result<void> check_offered(Device& device, const graph::Graph& graph, plan::Plan& plan);

}  // namespace viridian::execute
