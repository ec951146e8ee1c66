#pragma once
// Plans and frontiers as text.
#include <string>

#include "viridian/pipeline/result.hpp"

namespace viridian::cli {

[[nodiscard]] std::string plan_text(const pipeline::PlanResult& plan);
[[nodiscard]] std::string frontier_text(const pipeline::FrontierResult& frontier);

}  // namespace viridian::cli
