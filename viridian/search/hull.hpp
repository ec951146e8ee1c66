#pragma once
// The lower hull of all plans in the plane of two metrics, usually time and energy, found by recursive
// weights: each vertex is the optimum of an additive objective, so it is exact where its problem is solved to
// proof (docs/method.md, 2). Objectives that are not additive are minimised over it: a product has its
// optimum at a vertex; ratios, mixes with power and limits get a vertex, improved by local search, and the
// hull itself as proven bound.
#include "viridian/search/assign.hpp"

namespace viridian::search {

struct FrontierOptions {
    std::size_t most_vertices = 64;
    std::function<void(std::size_t vertices)> progress;
};

struct Frontier {
    std::vector<Outcome> vertices;  // by rising time, falling energy; none dominates another
    // Area in which undiscovered plans may still lie, relative to the rectangle of the two ends; 0: complete;
    // 1: some vertex is not proven.
    double unresolved = 0;
};

[[nodiscard]] Result<Frontier> frontier(const Instance& instance, const AssignOptions& options = {},
                                        const FrontierOptions& limits = {});

// Errors: unsupported for objectives over more than two metrics; missing_entry where no plan found keeps the
// limit.
[[nodiscard]] Result<Outcome> solve_on_hull(const Instance& instance, const Objective& objective,
                                            const Metrics& start, const AssignOptions& options);

}  // namespace viridian::search
