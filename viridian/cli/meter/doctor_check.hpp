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
    std::string finding;
    std::string next_step;
    std::vector<std::string> details = {};
};

// The instructions that kernels use.
[[nodiscard]] std::vector<Check> check_processor(const Machine& machine);

// Whether kernels can be recorded; `parameters` is what the driver says in /proc/driver/nvidia/params.
// Tracing is open to everybody since CUDA 10.2 (CUPTI, "Limitations"); counters are not.
[[nodiscard]] Check check_cupti(const trace::cupti::Probe& found, std::string_view parameters);

}  // namespace viridian::cli
