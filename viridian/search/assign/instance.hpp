#pragma once
// An Instance gathers everything that a solver needs of a graph, once: the candidate regions with their
// legal, priced choices, and for every value its producer, its readers and the conversions between their
// formats. Any number of objectives can then be solved on it.
#include <memory>

#include "viridian/cost/source.hpp"
#include "viridian/plan/assignment.hpp"
#include "viridian/search/assign/conversions.hpp"
#include "viridian/search/assign/options.hpp"

namespace viridian::search {

// An Option is a legal choice of a region, with its formats by number.
struct Option {
    plan::Choice choice;
    std::vector<FormatId> inputs, outputs;
    cost::Price price;
    Metrics metrics;  // its seconds and joules are those of `price`
    // `overwritable` is true if a later kernel may overwrite the outputs, because no other live value lies
    // in their buffers.
    bool overwritable = true;
};

// A Candidate is a region that an assignment may use, with its options.
struct Candidate {
    plan::Region region;
    std::vector<Option> options;
    [[nodiscard]] graph::NodeId head() const { return region.nodes.front(); }
};

// A Flow is a value that is neither constant nor unread, between its producer and its readers.
struct Flow {
    graph::ValueId value = graph::ValueId::none;
    graph::Dims dims;
    graph::NodeId producer = graph::NodeId::none;  // none: a graph input or state, in format `given`
    std::optional<FormatId> given;
    std::optional<FormatId> demanded;    // the format of the graph's output, if the value is one
    std::vector<graph::NodeId> readers;  // distinct, ascending
    std::shared_ptr<const Conversions> conversions;
    // Returns whether the value is an input or output of the graph, which has a fixed format.
    [[nodiscard]] bool boundary() const { return given.has_value() || demanded.has_value(); }
};

class Instance {
  public:
    // Asks the source for every choice of every region of the graph (plan::candidate_regions), and for the
    // conversions between their formats. No choice rounds to bf16 where that is not safe
    // (plan/precision.hpp), or at a node of `options.keep_f32`. Errors: those of `source`; malformed if a
    // price is not finite; unsupported if a node has no kernel or a shape is unknown. `graph` must outlive
    // the instance.
    static Result<Instance> of(const graph::Graph& graph, const cost::PriceSource& source,
                               const AssignOptions& options = {});
    // Does the same for `regions` alone, which may be those of a stored plan.
    static Result<Instance> make(const graph::Graph& graph, std::span<const plan::Region> regions,
                                 const cost::PriceSource& source, const Boundary& boundary = {},
                                 std::span<const graph::NodeId> keep_f32 = {});

    [[nodiscard]] const graph::Graph& graph() const { return *graph_; }
    [[nodiscard]] const std::vector<graph::NodeId>& nodes() const { return nodes_; }  // in topological order
    [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
    // Returns the candidates that contain `node`, as positions in candidates().
    [[nodiscard]] const std::vector<std::uint32_t>& candidates_of(graph::NodeId node) const {
        return candidates_of_[index(node)];
    }
    [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }
    [[nodiscard]] const plan::Format& format(FormatId id) const { return formats_[id]; }
    // Returns the conversion of the value of `flow` between two of its formats, with its price.
    [[nodiscard]] plan::Conversion conversion(const Flow& flow, FormatId from, FormatId to) const;

  private:
    Result<void> gather_candidates(std::span<const plan::Region> regions, const cost::PriceSource& source,
                                   std::span<const graph::NodeId> keep_f32);
    Result<void> gather_flows(const Boundary& boundary);
    // Removes the options that could not work in any assignment.
    void drop_illegal();
    Result<void> price_conversions(const cost::PriceSource& source);
    [[nodiscard]] bool legal(const Candidate& candidate, const Option& option) const;
    [[nodiscard]] bool may_be_overwritten(const Candidate& candidate, const Option& option) const;
    // Returns the number of `format`, which gets a new one if it has none.
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
    std::map<std::tuple<graph::Dims, FormatId, FormatId>, cost::Price> conversion_prices_;
};

}  // namespace viridian::search
