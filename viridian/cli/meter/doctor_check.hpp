#pragma once
// Defines a row of `viridian doctor`: one thing that works or does not, and how to make it work.
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/system/machine.hpp"
#include "viridian/trace/record/cupti_api.hpp"

namespace viridian::cli {

struct Check {
    std::string name;
    bool works = false;
    std::string finding;                    // the result in one sentence
    std::string next_step;                  // advice or a command that would help; "" if nothing is needed
    std::vector<std::string> details = {};  // further lines
};

// Checks the instruction sets that kernels use.
[[nodiscard]] std::vector<Check> check_processor(const Machine& machine);

// Checks whether GPU kernels can be recorded. `found` is the result of probing CUPTI, and `parameters` the
// content of /proc/driver/nvidia/params. Since CUDA 10.2 tracing is open to everybody, but performance
// counters are not (CUPTI, "Limitations").
[[nodiscard]] Check check_cupti(const trace::cupti::Probe& found, std::string_view parameters);

}  // namespace viridian::cli
