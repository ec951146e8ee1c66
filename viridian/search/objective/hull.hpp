#pragma once
// Minimises objectives that do not simply add up (products, mixes with power, limits) over the plane of two
// metrics, and lists the frontier of time and energy. This is the idea of the whole sub-room:
//
//     energy                               o  plans
//        | *                               *  vertices of the lower hull: no plan lies below the line
//        |  \     o                           through two neighbours. Each is the optimum of an additive
//        | - * -      o     o                 problem, whose bound is a support line.
//        |    '-\.-   x                    -  the level set's border: points as good as the best vertex.
//        |         '*  -  - -                 Only plans below it are better.
//        |            '--..__*             x  such a plan above the hull: no weights find it, labels do
//        +------------------------ time
//
// 1. Weights that follow from two vertices find the next one between them, until nothing is below any
//    piece (lower_hull.hpp). A product has its optimum at a vertex. Other objectives get the best vertex,
//    improved by local search; the least value along the hull is their bound.
// 2. If some additive problem is not solved to proof, its bound still is a support line; all lines
//    together bound the objective (support_lines.hpp). To the right, where time is long, the least ratio
//    of energy to time of any kernel or conversion bounds power (least_ratio.hpp).
// 3. A better plan can only lie between hull and level set (level_set.hpp). Labels search that area for
//    one, or prove that it is empty (close_gap.hpp, exact/labels.hpp).
//
// docs/method.md, 2 has the arguments.
#include "viridian/search/assign/assign.hpp"

namespace viridian::search {

// FrontierOptions limit a frontier, and report how it grows.
struct FrontierOptions {
    std::size_t most_vertices = 64;
    std::function<void(std::size_t vertices)> progress;
};

// A Frontier lists the best trades of time against energy.
struct Frontier {
    std::vector<Outcome> vertices;  // by rising time, falling energy; none dominates another
    // `unresolved` is the area in which undiscovered plans may still lie, relative to the rectangle of the
    // two ends: 0 if the frontier is complete, 1 if some vertex is not proven.
    double unresolved = 0;
};

// Lists the vertices of the lower hull of time and energy. Errors: those of solve_additive.
[[nodiscard]] Result<Frontier> frontier(const Instance& instance, const AssignOptions& options = {},
                                        const FrontierOptions& limits = {});

// Returns the frontier of the plans of both, which are plans of one graph.
[[nodiscard]] Frontier merged(Frontier a, Frontier b);

// Returns the best plan found under an objective of at most two metrics (power counts as time and energy),
// with its bound; `start` is what mixes and limits are relative to. Errors: those of solve_additive;
// missing_entry if no plan found keeps the limit.
[[nodiscard]] Result<Outcome> solve_on_hull(const Instance& instance, const Objective& objective,
                                            const Metrics& start, const AssignOptions& options);

}  // namespace viridian::search
