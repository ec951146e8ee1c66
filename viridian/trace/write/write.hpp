#pragma once
// Writes traces and weights in the formats that other tools read. Sinks take events as they come and hold
// nothing; the flame-graph formats take weights per path (nanoseconds from `self_times`, or microjoules from
// an account).
//
//   json        Chrome's format for Perfetto (ui.perfetto.dev, chrome://tracing), lossless for our own reader
//   csv         one row per event
//   folded      "cpu:0;encoder;layer_0;MatMul 1234" (flamegraph.pl, inferno)
//   speedscope  https://www.speedscope.app/file-format-schema.json, one profile per kind of weight
//   pprof       profile.proto of google/pprof; several values per sample
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "viridian/trace/source.hpp"
#include "viridian/trace/write/out.hpp"

namespace viridian::trace {

struct CounterTrack {
    std::string name;  // "cuda:0 power"
    std::string unit;  // "W", "J"
    std::vector<std::pair<Nanoseconds, double>> points;
};

struct JsonExtras {
    std::vector<CounterTrack> tracks;                   // drawn under the events
    std::function<double(const Event&)> microjoules{};  // per event, shown when not negative; may be empty
};

[[nodiscard]] std::unique_ptr<Sink> json_sink(std::unique_ptr<Out> out, JsonExtras extras = {});
[[nodiscard]] std::unique_ptr<Sink> csv_sink(std::unique_ptr<Out> out);

// A Weight is what a path owns by itself, without what stands below it.
struct Weight {
    DeviceId device = 0;
    Pass pass = Pass::unknown;
    PathId path = 0;
    double value = 0.0;
};
struct Weights {
    std::string what;  // "time", "energy"
    std::string unit;  // "nanoseconds", "microjoules"
    std::vector<Weight> items;
};

// The time of work (operations, kernels, copies, fills) that no nested work covers; reads `source` to its
// end.
[[nodiscard]] Result<Weights> self_times(Source& source);

// Each writes `weights` to `out` and closes it. Values are rounded to whole units; zero is left out. Errors:
// those of `out`.
[[nodiscard]] Result<void> write_folded(Out& out, const Trace& about, const Weights& weights);
[[nodiscard]] Result<void> write_speedscope(Out& out, const Trace& about,
                                            const std::vector<Weights>& profiles);
[[nodiscard]] Result<void> write_pprof(Out& out, const Trace& about, const std::vector<Weights>& values);

// The frames of a weight, outermost first: device, "backward" if it is backward work, the parts of the path.
[[nodiscard]] std::vector<std::string_view> frames_of(const Weight& weight, const Trace& about);

}  // namespace viridian::trace
