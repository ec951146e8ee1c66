#pragma once
// Encodes an instance under an additive objective as an abstract problem, and decodes a solution of that as
// an assignment.
//
// A variable per node says which region covers it, and that region's choice: the region's head carries the
// cost, its other members the same state at no cost. A variable per value says which formats of it are made
// available (a set), or that it stays inside a region (and of which choice). The edge from a producer to a
// value costs the cheapest conversion tree; the edge from a value to a reader is infinite unless the set
// holds the wanted format. Nodes therefore meet at values only, which have few states, and the tree width
// of the problem is that of the network.
#include "viridian/search/assign/in_place.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

class Encoding {
  public:
    // Encodes `instance` under `weights`. A choice is left out if another with the same ports costs no more
    // under each of `comparing`, or under `weights` if those are empty. Encodings with equal `comparing`
    // have the same states.
    Encoding(const Instance& instance, const Weights& weights, const EncodeOptions& options = {},
             std::span<const Weights> comparing = {});

    [[nodiscard]] const Problem& problem() const { return problem_; }
    // Returns the number of values that had too many sets of formats, so that not all ways to convert them
    // were considered.
    [[nodiscard]] std::size_t restricted_values() const { return restricted_; }

    // A Decoded is the assignment that a solution of the problem stands for, with its totals.
    struct Decoded {
        plan::Assignment assignment;  // regions and conversions
        Metrics totals;
    };
    // Returns the assignment of `states`, which hold one state per variable of problem().
    [[nodiscard]] Decoded decode(std::span<const State> states) const;

  private:
    // A Pick is option number `option` of candidate number `candidate`.
    struct Pick {
        std::uint32_t candidate = 0, option = 0;
        bool operator==(const Pick&) const = default;
    };
    // A ValueState is what one state of a value variable means.
    struct ValueState {
        enum class Kind : std::uint8_t {
            set,       // the formats in `set` are available
            own,       // as `set`, for a reader that gathers: in a buffer that nothing else lies in
            internal,  // never leaves the region of `pick`
        } kind = Kind::set;
        Conversions::Set set = 0;
        Pick pick;
        // These two are used with exact sets only: the formats that the readers before this one ask for,
        // and the one that it asks for itself.
        Conversions::Set before = 0;
        std::optional<Conversions::Set> asked = {};
    };
    // ValueVariables are the variables of one value.
    struct ValueVariables {
        bool booleans = false;  // one variable per wanted format from `first` on
        Variable first = 0;
        // `links` holds the states of each variable; it is empty with booleans. One variable serves all
        // readers. With exact sets each reader has its own, which also knows the formats that earlier
        // readers asked for, so that the set of the last one holds nothing that nobody reads.
        std::vector<std::vector<ValueState>> links;
        [[nodiscard]] Variable last() const { return first + static_cast<Variable>(links.size()) - 1; }
    };

    // Drops the options that cannot be in an optimum under any of `comparing`.
    void choose_options(std::span<const Weights> comparing);
    void add_node_variables(const Weights& weights);
    // Adds the variables of flow number `flow` and their edges to producer and readers.
    void add_value(std::size_t flow, const Weights& weights, const EncodeOptions& options);
    // Returns the states in which the value never leaves a region of its producer.
    [[nodiscard]] std::vector<ValueState> inside(const Flow& flow) const;
    // Returns the states for an only reader that gathers the value.
    [[nodiscard]] std::vector<ValueState> own(const Flow& flow) const;
    // Returns all states of the one variable of a value. Sets `too_many` if there are more than `most`
    // sets.
    [[nodiscard]] std::vector<ValueState> value_states(const Flow& flow, std::size_t most,
                                                       bool& too_many) const;
    // Returns the formats that `reader` may ask for; the empty set means that its region makes the value
    // itself.
    [[nodiscard]] std::vector<Conversions::Set> asked_by(const Flow& flow, graph::NodeId reader) const;
    // Returns the states of each reader with exact sets. If a reader had more than `most`, sets `too_many`,
    // and all readers ask for one format.
    [[nodiscard]] std::vector<std::vector<ValueState>> links(const Flow& flow, std::size_t most,
                                                             bool& too_many) const;
    void connect_links(const ValueVariables& variables);
    void connect_sets(const Flow& flow, const ValueVariables& variables, const Weights& weights);
    void connect_booleans(const Flow& flow, const ValueVariables& variables, const Weights& weights);
    // Adds the edges that give all nodes of a region the same choice.
    void tie_regions();
    void tie(graph::NodeId a, graph::NodeId b, std::uint32_t candidate);
    // Adds the edges that forbid choices which clash in place (in_place.hpp).
    void forbid_clashes(const Flow& flow);

    [[nodiscard]] const Candidate& candidate(Pick pick) const {
        return instance_->candidates()[pick.candidate];
    }
    [[nodiscard]] const Option& option(Pick pick) const { return candidate(pick).options[pick.option]; }
    [[nodiscard]] std::optional<FormatId> made(Pick pick, graph::ValueId value) const {
        return search::made(candidate(pick), option(pick), value);
    }
    [[nodiscard]] std::optional<FormatId> wanted(Pick pick, graph::ValueId value) const {
        return search::wanted(candidate(pick), option(pick), value);
    }
    [[nodiscard]] bool gathers(Pick pick, graph::ValueId value) const {
        return search::gathers(candidate(pick), option(pick), value);
    }
    [[nodiscard]] const std::vector<Pick>& picks(graph::NodeId node) const { return picks_[index(node)]; }
    [[nodiscard]] Variable variable(graph::NodeId node) const { return variable_of_[index(node)]; }

    const Instance* instance_;
    Problem problem_;
    std::vector<std::vector<std::uint32_t>> kept_;  // by candidate: options that may be in an optimum
    std::vector<std::vector<Pick>> picks_;          // by node: what its states mean
    std::vector<Variable> variable_of_;             // by node
    std::vector<ValueVariables> values_;            // by flow
    std::size_t restricted_ = 0;
    // Under negative weights a useless conversion would lower the cost, so sets hold exactly the formats
    // that are asked for.
    bool exact_sets_ = false;
};

}  // namespace viridian::search
