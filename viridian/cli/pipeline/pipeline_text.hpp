#pragma once
// Writes plans and frontiers as the text that people read.
#include <string>

#include "viridian/pipeline/result.hpp"

namespace viridian::cli {

[[nodiscard]] std::string plan_text(const pipeline::PlanResult& plan);
[[nodiscard]] std::string frontier_text(const pipeline::FrontierResult& frontier);

}  // namespace viridian::cli
