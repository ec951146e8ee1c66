#pragma once
// Holds a fixed cover of the graph by regions and a choice for each, which the baselines change step by step.
// Conversions are priced as they are shared, from exactly the formats that are asked for.
#include "viridian/search/assign/solvers.hpp"

namespace viridian::search {

class Selection {
  public:
    // Each region starts with its first choice that works in place nowhere, else its first.
    Selection(const Instance& instance, std::vector<std::uint32_t> cover);

    [[nodiscard]] std::size_t size() const { return cover_.size(); }
    [[nodiscard]] const Candidate& candidate(std::size_t region) const {
        return instance_->candidates()[cover_[region]];
    }
    [[nodiscard]] std::size_t option(std::size_t region) const { return options_[region]; }
    [[nodiscard]] std::size_t region_of(graph::NodeId node) const { return region_of_[index(node)]; }
    // Regions that share a value with this one, ascending.
    [[nodiscard]] const std::vector<std::size_t>& neighbours(std::size_t region) const {
        return neighbours_[region];
    }

    // impossible() if choices clash, or a conversion does not exist.
    [[nodiscard]] Metrics totals() const;
    struct Change {
        std::size_t region = 0, option = 0;
    };
    // Totals after these changes, from totals before them.
    [[nodiscard]] Metrics after(const Metrics& before, std::span<const Change> changes);
    void apply(std::span<const Change> changes);
    [[nodiscard]] plan::Assignment assignment() const;

  private:
    [[nodiscard]] std::optional<FormatId> source(const Flow& flow) const;
    [[nodiscard]] Conversions::Set demand(const Flow& flow) const;
    [[nodiscard]] Metrics flow_cost(const Flow& flow) const;

    const Instance* instance_;
    std::vector<std::uint32_t> cover_;
    std::vector<std::size_t> options_;
    std::vector<std::size_t> region_of_;              // by node
    std::vector<std::vector<std::size_t>> flows_of_;  // by region
    std::vector<std::vector<std::size_t>> neighbours_;
};

// Covers: every node alone; or, in topological order, the largest region that starts at a node.
[[nodiscard]] Result<std::vector<std::uint32_t>> single_cover(const Instance& instance);
[[nodiscard]] std::vector<std::uint32_t> longest_cover(const Instance& instance);

// The largest regions with their first choices; single nodes where those do not fit together.
[[nodiscard]] Result<Selection> fused_selection(const Instance& instance);

// Its assignment, signed by the solver and without a bound, and its totals.
[[nodiscard]] Outcome outcome_of(const Selection& selection, const SolverRow& solver);

}  // namespace viridian::search
