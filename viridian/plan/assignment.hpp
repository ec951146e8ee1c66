#pragma once
// An Assignment is the decision of a solver: regions that cover the graph, one choice for each region, and
// the conversions between their formats, each with the price that it was chosen for. One that was read from
// a file or put together by hand has no prices.
#include "viridian/plan/choice.hpp"
#include "viridian/plan/price.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::plan {

struct AssignedRegion {
    Region region;
    Choice choice;
    std::optional<Price> price = {};
};

// A Conversion makes `value` available in format `to` from a copy in format `from`. Each value is converted
// at most once to each format, however many regions read it.
struct Conversion {
    graph::ValueId value = graph::ValueId::none;
    Format from;
    Format to;
    std::optional<Price> price = {};
    // Two conversions are equal if they do the same, whatever they cost.
    bool operator==(const Conversion& other) const {
        return value == other.value && from == other.from && to == other.to;
    }
};

struct Assignment {
    std::vector<AssignedRegion> regions;  // every node is in exactly one
    std::vector<Conversion> conversions;
    std::string solver;  // its name, as `viridian optimize --solver` takes it
    double value = 0;    // the objective of this assignment
    double bound = 0;    // a proven lower bound of it; -infinity if the solver proves none
    // What `value` would be if each region had its cheapest kernel and no conversion cost anything; nothing
    // if the objective is not additive. SUBSTATION, section VI-A, compares its plan with this sum.
    std::optional<double> cheapest_kernels = {};
    // Returns by how much the value may lie above the least one; infinity if the solver proves no bound.
    [[nodiscard]] double gap() const { return value - bound; }
};

}  // namespace viridian::plan
