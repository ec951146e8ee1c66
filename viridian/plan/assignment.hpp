#pragma once
// What a solver decides: regions that cover the graph, a choice for each, and the conversions between them.
#include "viridian/plan/choice.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::plan {

struct AssignedRegion {
    Region region;
    Choice choice;
};

// `value` is made available in `to` from a copy that is in `from`. Paid once per value and format.
struct Conversion {
    graph::ValueId value = graph::ValueId::none;
    Format from;
    Format to;
    bool operator==(const Conversion&) const = default;
};

struct Assignment {
    std::vector<AssignedRegion> regions;  // every live node in exactly one
    std::vector<Conversion> conversions;
    std::string solver;  // exact, greedy, shortest-path, first
    double value = 0;    // objective reached
    double bound = 0;    // proven lower bound; −infinity where the solver proves none
    [[nodiscard]] double gap() const { return value - bound; }
};

}  // namespace viridian::plan
