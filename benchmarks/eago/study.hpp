#pragma once
// One network under study: its graph with constants and shapes folded, the searches, and the graphs they
// found. Each objective is solved again on every graph that any search found, so that no row can be dominated
// by another row's graph.
#include "laboratory.hpp"
#include "paper.hpp"
#include "viridian/search/graphs/outer.hpp"

namespace viridian::eago {

struct Budget {
    std::size_t graphs = 150;
    Seconds seconds{60};
};

struct Row {
    std::string name;
    std::string objective;
    optimize::PlannedModel planned;
    std::optional<Actual> actual;
    [[nodiscard]] Figures predicted() const;
    [[nodiscard]] Figures ran() const;
};

class Study {
  public:
    static Result<Study> make(Laboratory& laboratory, const std::string& network, const Budget& budget);

    [[nodiscard]] const graph::Graph& origin() const { return origin_; }
    [[nodiscard]] std::size_t graphs_priced() const { return priced_; }

    // Each node by its first kernel.
    Result<Row> origin_row();
    // The outer search over what a source offers; not shared with others.
    Result<Row> restricted(const std::string& name, const std::string& objective,
                           const cost::PriceSource& source);
    // The origin's graph, assigned from what a source offers.
    Result<Row> assigned(const std::string& name, const std::string& objective,
                         const cost::PriceSource& source);
    // Searches for the objective; its graph is kept.
    Result<void> search(const std::string& objective);
    // The objective's best plan over all graphs kept.
    Result<Row> best(const std::string& name, const std::string& objective);
    // Graphs of one search from the origin, with the assignments that it gave them.
    struct Visit {
        graph::Graph graph;
        search::Metrics totals;
    };
    Result<std::vector<Visit>> visits(const std::string& objective, double alpha);

  private:
    Study(Laboratory& laboratory, const Budget& budget) : laboratory_(&laboratory), budget_(budget) {}
    Result<search::OuterResult> outer(const graph::Graph& from, const std::string& objective,
                                      const cost::PriceSource& source, double alpha,
                                      std::vector<Visit>* visits = nullptr);
    void keep(const graph::Graph& graph);

    Laboratory* laboratory_;
    Budget budget_;
    graph::Graph origin_, simplified_;
    search::Metrics start_;
    std::vector<graph::Graph> kept_;
    std::vector<std::uint64_t> hashes_;
    std::size_t priced_ = 0;
};

// Plans that differ: other graphs, kernels, layouts or fusions.
[[nodiscard]] std::size_t distinct(const std::vector<Row>& rows);
// Runs all of them interleaved, where the laboratory can.
[[nodiscard]] Result<void> run_rows(Laboratory& laboratory, std::vector<Row>& rows);

}  // namespace viridian::eago
