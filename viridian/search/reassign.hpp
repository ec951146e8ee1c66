#pragma once
// What a rewrite changes of the cost, from what it touched alone: the nodes around it, before and after, are
// assigned by themselves, with the formats that the whole graph's assignment has at their edge; the
// difference is added to the whole graph's cost. An estimate: a format further away might change too. Graphs
// that matter are assigned as a whole afterwards (outer_run.hpp).
#include <map>

#include "viridian/search/assign.hpp"

namespace viridian::search {

class Reassigner {
  public:
    // `graph` as assigned by `outcome`; all outlive this. Objectives with a limit are not supported.
    Reassigner(const graph::Graph& graph, const Outcome& outcome, const cost::Source& source,
               const Objective& objective, const AssignOptions& options, int radius);

    // Whether estimates can be had at all: the solver is exact, and the objective has no limit.
    [[nodiscard]] static bool possible(const Objective& objective, const AssignOptions& options);

    // The objective of `after`, which was made from the graph. Errors: those of Instance::make and solve.
    Result<double> estimate(const graph::Graph& after);

  private:
    using Inside = std::vector<bool>;  // by node slot
    [[nodiscard]] Inside around(const graph::Graph& after, const Inside& gone, const Inside& fresh) const;
    Result<Metrics> assigned(const graph::Graph& graph, const graph::Uses& uses, const Inside& inside) const;
    [[nodiscard]] plan::Format format_of(const graph::Graph& graph, graph::ValueId value) const;

    const graph::Graph& graph_;
    const Outcome& outcome_;
    const cost::Source& source_;
    const Objective& objective_;
    AssignOptions options_;
    int radius_ = 0;
    Weights weights_;
    graph::Uses uses_;
    std::vector<bool> f32_;                                  // of the graph, by node
    std::vector<std::uint32_t> region_of_;                   // by node
    std::map<graph::ValueId, const plan::Format*> formats_;  // of values that leave their region
    std::map<Inside, Metrics> before_;                       // assigned parts of the graph
};

}  // namespace viridian::search
