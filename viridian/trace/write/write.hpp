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

// A CounterTrack is a quantity over time that is drawn under the events.
struct CounterTrack {
    std::string name;  // "cuda:0 power"
    std::string unit;  // "W", "J"
    std::vector<std::pair<Nanoseconds, double>> points;
};

struct JsonExtras {
    std::vector<CounterTrack> tracks;
    // Returns the microjoules of an event, which are shown if they are not negative. May be empty.
    std::function<double(const Event&)> microjoules{};
    // Returns further arguments of an event, as names and values. May be empty.
    std::function<std::vector<std::pair<std::string, std::string>>(const Event&)> arguments{};
};

// Return sinks that write events to `out` as they come.
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

// Returns for each path the time of its work (operations, kernels, copies, fills) that no nested work covers.
// Reads `source` to its end. Errors: those of the source.
[[nodiscard]] Result<Weights> self_times(Source& source);

// Each of these writes weights to `out` and closes it. `about` holds the names of the paths. Values are
// rounded to whole units; zero is left out. Errors: those of `out`.
[[nodiscard]] Result<void> write_folded(Out& out, const Trace& about, const Weights& weights);
[[nodiscard]] Result<void> write_speedscope(Out& out, const Trace& about,
                                            const std::vector<Weights>& profiles);
[[nodiscard]] Result<void> write_pprof(Out& out, const Trace& about, const std::vector<Weights>& values);

// Returns the frames of a weight, outermost first: the device, "backward" for backward work, and the parts of
// its path.
[[nodiscard]] std::vector<std::string_view> frames_of(const Weight& weight, const Trace& about);

}  // namespace viridian::trace
