#pragma once
// A LocalEstimate estimates by how much a rewrite changes the cost, from the nodes around it alone. These
// are assigned by themselves before and after, with the formats that the assignment of the whole graph has
// at their edge, and the difference is added to the whole graph's cost. A format further away might change
// too, so the graphs that matter are assigned as a whole afterwards (strategy.hpp).
#include <map>

#include "viridian/search/assign/solvers.hpp"

namespace viridian::search {

class LocalEstimate {
  public:
    // Estimates for graphs made from `graph`, which `outcome` assigns. Nodes within `radius` steps of a
    // change are assigned anew. All arguments must outlive the object. Objectives with a limit are not
    // supported.
    LocalEstimate(const graph::Graph& graph, const Outcome& outcome, const cost::PriceSource& source,
                  const Objective& objective, const AssignOptions& options, int radius);

    // Returns whether estimates are possible: the solver is exact, and the objective has no limit.
    [[nodiscard]] static bool possible(const Objective& objective, const AssignOptions& options);

    // Returns the estimated objective of `after`, which was made from the graph. Errors: those of
    // Instance::of and solve.
    Result<double> of(const graph::Graph& after);

  private:
    using Inside = std::vector<bool>;  // by node slot
    // Returns the nodes of the graph near those that are `gone` and those that `fresh` nodes of `after`
    // read.
    [[nodiscard]] Inside neighbourhood(const graph::Graph& after, const Inside& gone,
                                       const Inside& fresh) const;
    // Returns the totals of the nodes `inside`, assigned as a graph of their own.
    Result<Metrics> assign_part(const graph::Graph& graph, const graph::Uses& uses,
                                const Inside& inside) const;
    // Returns the format that the assignment gives to the value.
    [[nodiscard]] plan::Format format_of(const graph::Graph& graph, graph::ValueId value) const;

    const graph::Graph& graph_;
    const Outcome& outcome_;
    const cost::PriceSource& source_;
    const Objective& objective_;
    AssignOptions options_;
    int radius_ = 0;
    Weights weights_;
    graph::Uses uses_;
    std::vector<bool> f32_;                                  // by node of the graph
    std::vector<std::uint32_t> region_of_;                   // by node
    std::map<graph::ValueId, const plan::Format*> formats_;  // of values that leave their region
    std::map<Inside, Metrics> before_;                       // assigned parts of the graph
};

}  // namespace viridian::search
