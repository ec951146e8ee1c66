#pragma once
// Everything a solver needs of a graph, gathered once: the candidate regions with their legal, priced
// choices, and every value's way from its producer to its readers. Objectives come and go; this stays.
#include <map>
#include <memory>

#include "viridian/cost/source.hpp"
#include "viridian/plan/assignment.hpp"
#include "viridian/search/conversions.hpp"

namespace viridian::search {

// A legal choice of a region, with formats by number.
struct Option {
    plan::Choice choice;
    std::vector<FormatId> inputs, outputs;
    Metrics metrics;
    // A later kernel may overwrite the outputs: no other live value lies in their buffers.
    bool overwritable = true;
};

struct Candidate {
    plan::Region region;
    std::vector<Option> options;
    [[nodiscard]] graph::NodeId head() const { return region.nodes.front(); }
};

// Values that are neither constant nor unread, between producer and readers.
struct Flow {
    graph::ValueId value = graph::ValueId::none;
    graph::Dims dims;
    graph::NodeId producer = graph::NodeId::none;  // none: a graph input or state, in format `given`
    std::optional<FormatId> given;
    std::optional<FormatId> demanded;    // by the graph's outputs
    std::vector<graph::NodeId> readers;  // distinct, ascending
    std::shared_ptr<const Conversions> conversions;
    [[nodiscard]] bool boundary() const { return given.has_value() || demanded.has_value(); }
};

using Boundary = std::map<graph::ValueId, plan::Format>;  // what is missing is plain, in host memory

class Instance {
  public:
    // No choice rounds to bf16 where that is not safe (plan/precision.hpp), or at a node of `keep_f32`.
    // Errors: whatever the source says; unsupported when a node has no kernel or a shape is unknown.
    static Result<Instance> make(const graph::Graph& graph, std::span<const plan::Region> regions,
                                 const cost::Source& source, const Boundary& boundary = {},
                                 std::span<const graph::NodeId> keep_f32 = {});

    [[nodiscard]] const graph::Graph& graph() const { return *graph_; }
    [[nodiscard]] const std::vector<graph::NodeId>& nodes() const { return nodes_; }  // in topological order
    [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
    [[nodiscard]] const std::vector<std::uint32_t>& candidates_of(graph::NodeId node) const {
        return candidates_of_[index(node)];
    }
    [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }
    [[nodiscard]] const plan::Format& format(FormatId id) const { return formats_[id]; }

  private:
    Result<void> gather_candidates(std::span<const plan::Region> regions, const cost::Source& source,
                                   std::span<const graph::NodeId> keep_f32);
    Result<void> gather_flows(const Boundary& boundary);
    void drop_illegal();
    Result<void> price_conversions(const cost::Source& source);
    [[nodiscard]] bool legal(const Candidate& candidate, const Option& option) const;
    [[nodiscard]] bool may_be_overwritten(const Candidate& candidate, const Option& option) const;
    FormatId number(const plan::Format& format);
    [[nodiscard]] const Flow* flow(graph::ValueId value) const;

    const graph::Graph* graph_ = nullptr;
    std::vector<graph::NodeId> nodes_;
    std::vector<Candidate> candidates_;
    std::vector<std::vector<std::uint32_t>> candidates_of_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> flow_of_;  // by value; none_
    std::vector<plan::Format> formats_;
    std::map<std::string, FormatId> format_numbers_;
};

}  // namespace viridian::search
