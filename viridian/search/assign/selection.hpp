#pragma once
// A Selection holds a fixed cover of the graph by regions and a choice for each, which the baselines change
// step by step. Conversions of a value are shared by its readers, and priced from exactly the formats that
// these ask for.
#include "viridian/search/assign/solvers.hpp"

namespace viridian::search {

class Selection {
  public:
    // Selects the regions in `cover`, which are positions in Instance::candidates(). Each region starts
    // with its first choice that neither overwrites nor gathers, or with its first choice if there is none.
    Selection(const Instance& instance, std::vector<std::uint32_t> cover);

    [[nodiscard]] std::size_t size() const { return cover_.size(); }
    [[nodiscard]] const Candidate& candidate(std::size_t region) const {
        return instance_->candidates()[cover_[region]];
    }
    // Returns which of its options the region has.
    [[nodiscard]] std::size_t option(std::size_t region) const { return options_[region]; }
    [[nodiscard]] std::size_t region_of(graph::NodeId node) const { return region_of_[index(node)]; }
    // Returns the regions that share a value with this one, ascending.
    [[nodiscard]] const std::vector<std::size_t>& neighbours(std::size_t region) const {
        return neighbours_[region];
    }

    // Returns the totals of the selection; impossible() if choices clash or a conversion does not exist.
    [[nodiscard]] Metrics totals() const;
    // A Change gives `region` the option number `option`.
    struct Change {
        std::size_t region = 0, option = 0;
    };
    // Returns the totals after `changes`, given the totals `before` them. The selection stays as it was.
    [[nodiscard]] Metrics after(const Metrics& before, std::span<const Change> changes);
    void apply(std::span<const Change> changes);
    // Returns the regions, choices and conversions, without solver, value and bound.
    [[nodiscard]] plan::Assignment assignment() const;

  private:
    // Returns the format in which the value is given or written; nothing if it stays inside a region.
    [[nodiscard]] std::optional<FormatId> source(const Flow& flow) const;
    // Returns the formats that readers and outputs ask for.
    [[nodiscard]] Conversions::Set demand(const Flow& flow) const;
    // Returns the cost of converting the value; impossible() if choices clash at it.
    [[nodiscard]] Metrics flow_cost(const Flow& flow) const;

    const Instance* instance_;
    std::vector<std::uint32_t> cover_;
    std::vector<std::size_t> options_;
    std::vector<std::size_t> region_of_;              // by node
    std::vector<std::vector<std::size_t>> flows_of_;  // by region
    std::vector<std::vector<std::size_t>> neighbours_;
};

// These return covers of the graph: every node alone; or, in topological order, the largest candidate that
// starts at a node. longest_cover() is empty if such regions leave a node over. Errors: unsupported (no
// kernel does a node alone).
[[nodiscard]] Result<std::vector<std::uint32_t>> single_cover(const Instance& instance);
[[nodiscard]] std::vector<std::uint32_t> longest_cover(const Instance& instance);

// Returns the largest regions with their first choices, or single nodes if those do not fit together.
// Errors: unsupported.
[[nodiscard]] Result<Selection> fused_selection(const Instance& instance);

// Returns the assignment of `selection`, signed by `solver` and without a bound, and its totals.
[[nodiscard]] Outcome outcome_of(const Selection& selection, const SolverRow& solver);

}  // namespace viridian::search
