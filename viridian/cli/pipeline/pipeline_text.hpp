#pragma once
// Writes plans, checks of plans, and frontiers as the text that people read.
#include <string>

#include "viridian/pipeline/result.hpp"

namespace viridian::cli {

[[nodiscard]] std::string plan_text(const pipeline::PlanResult& plan);
// Returns the text about the plan in `file`, which was written in the format called `format` and can run.
[[nodiscard]] std::string check_text(const pipeline::PlanResult& plan, std::string_view file,
                                     std::string_view format);
[[nodiscard]] std::string frontier_text(const pipeline::FrontierResult& frontier);

}  // namespace viridian::cli
