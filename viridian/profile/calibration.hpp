#pragma once
// A Calibration relates prices that were timed at different times. A virtual machine's processors and memory
// are not equally fast all day: a neighbour takes bandwidth, the hypervisor moves a processor to another core
// complex, two processors share a core. Two probe kernels are therefore timed with every batch of prices and
// again before a plan is judged: a matrix product whose operands stay where they are, so that nothing but the
// cores' arithmetic decides, and a conversion of a tensor that another thread wrote, which passes from core
// to core. A price is then the sum of a part that follows the first probe and a part that follows the second
// one.
#include "viridian/cost/entry.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::profile {

// Work is what a kernel has to do: its floating-point operations and the bytes that it reads and writes.
struct Work {
    double flop = 0;
    double bytes = 0;

    // Return the work of a region, and that of a conversion of a tensor of `dims`. Values whose shapes are
    // not known count as nothing.
    [[nodiscard]] static Work of(const graph::Graph& graph, const plan::Region& region);
    [[nodiscard]] static Work of(const graph::Dims& dims, const plan::Format& from, const plan::Format& to);
};

// A Drift says how the machine changed between two times.
struct Drift {
    cost::ProbeTimes then, now;
    Seconds latency{};  // core to core, now; zero if it is not known

    // Returns by how much a kernel that does `work` takes longer now than then: the change of each probe,
    // weighted by how long the kernel's arithmetic and its traffic would take at the speed of the probes.
    // Between 1/limit and limit; 1 if one of the times is not known.
    [[nodiscard]] double factor(const Work& work) const;
    static constexpr double limit = 8;
};

class Calibration {
  public:
    // The probes run on `device`, which outlives the object. Nothing is timed yet.
    explicit Calibration(execute::Device& device);

    // Times both probes, for about 15 ms. Errors: those of timing. A device without a kernel for a probe has
    // probe times of zero, and its prices are never changed.
    Result<void> look();
    // Looks several times and keeps the median of each probe, so that what disturbs a look for some
    // milliseconds is not taken for the state of the machine. It is a median because prices are: against the
    // least look every price would seem to be of a slower machine. Ends when three in four looks agree with
    // the medians within a few percent, after a third of a second at the latest. Errors: those of look().
    Result<void> settle();
    // Returns what was found last; zeros before.
    [[nodiscard]] const cost::ProbeTimes& last() const { return last_; }
    // Returns the median of the core-to-core latencies that settle() met last; zero if none is known. It
    // tells states of the machine apart in a tenth of a millisecond.
    [[nodiscard]] Seconds latency() const { return latency_; }

  private:
    struct Arithmetic {
        graph::Graph graph;
        plan::Region region;
        std::optional<plan::Choice> choice;  // none if the device has no kernel
    };

    execute::Device& device_;
    std::optional<Arithmetic> arithmetic_;
    cost::ProbeTimes last_;
    Seconds latency_;
};

// Returns the middle of two probe times, in proportion; the other one if one is not known.
[[nodiscard]] cost::ProbeTimes between(const cost::ProbeTimes& a, const cost::ProbeTimes& b);

// Returns whether the machine was about as fast at both probe times: neither probe changed by more than
// `share` of itself. Unknown times are like any.
[[nodiscard]] bool alike(const cost::ProbeTimes& a, const cost::ProbeTimes& b, double share);

// A probe that takes longer by more than this share of its time is of a slow spell.
constexpr double slow_spell = 0.25;

// Returns whether the machine was slower at `a` than at `b`: one of the probes took longer by more than
// `share` of its time at `b`. Unknown times are no slower than any.
[[nodiscard]] bool slower(const cost::ProbeTimes& a, const cost::ProbeTimes& b, double share);

}  // namespace viridian::profile
