#pragma once
// A Processor describes a processor that does not exist, in numbers: how fast it is, what it draws, and which
// kernels its library has. `synthetic` prices regions with it (docs/cost.md has the formulas); its file is
// small, and every price follows from it.
//
//     {"schema": "viridian.processor/1", "name": "synthetic-gpu", "seed": 1,
//      "flop_per_second": …, "reachable": …, "bytes_per_second": …, "launch_seconds": …, "half_occupied": …,
//      "watts": {"idle": …, "flop": …, "bytes": …},
//      "convolutions": [{"name": …, "channels_last": false, "seconds": [low, high], "watts": [low, high]},
//      …], "small_convolutions": […], "others": […]}
#include <string>
#include <vector>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"

namespace viridian::cost {

// A Range is an interval from which a factor is drawn.
struct Range {
    double low = 1, high = 1;
};
// An Algorithm is one kernel of the library. Its seconds and watts are those of the formulas, times factors
// drawn from these ranges by signature and seed.
struct Algorithm {
    std::string name;
    bool channels_last = false;
    Range seconds, watts;
};

struct Processor {
    std::string name = "synthetic-gpu";
    std::uint64_t seed = 1;
    double peak_flop = 14e12;      // per second; NVIDIA, Tesla V100 data sheet: f32, PCIe
    double reachable = 0.6;        // share of `peak_flop` that a kernel with enough work reaches
    double bandwidth = 0.7e12;     // bytes per second; the sheet says 0.9e12
    double launch = 3e-6;          // seconds per kernel call
    double half_occupied = 1.2e5;  // output elements that half fill the device
    double idle_watts = 45, flop_watts = 250, byte_watts = 60;
    // `lean_gemm` has the ranges of algorithm B against A in EAGO, Table 1. Algorithm C there, for one of
    // three convolutions, takes 0.5 of the seconds at 0.75 of the watts, which is within the ranges of
    // `winograd`.
    std::vector<Algorithm> convolutions = {{"implicit_gemm", false, {}, {}},
                                           {"lean_gemm", false, {0.88, 1.85}, {0.58, 0.81}},
                                           {"tensor_nhwc", true, {0.75, 1.2}, {0.75, 1.05}},
                                           {"lean_nhwc", true, {0.95, 1.9}, {0.55, 0.8}}};
    // These are further algorithms for 3×3 convolutions at stride 1.
    std::vector<Algorithm> small_convolutions = {{"winograd", false, {0.5, 0.95}, {0.7, 0.9}}};
    std::vector<Algorithm> others = {{"fast", false, {}, {}},
                                     {"lean", false, {1.02, 1.5}, {0.6, 0.9}},
                                     {"fast_nhwc", true, {0.95, 1.1}, {0.95, 1.05}}};
};

inline constexpr std::string_view processor_schema = "viridian.processor/1";

// Writes the description of a processor.
[[nodiscard]] Json to_json(const Processor& processor);
// Reads a description. Errors: malformed, with the name of the member.
[[nodiscard]] Result<Processor> processor_from_json(const Json& json);

}  // namespace viridian::cost
