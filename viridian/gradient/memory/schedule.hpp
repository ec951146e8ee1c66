#pragma once
// A Schedule is an order in which the nodes of a training step run, some of them twice, and the memory that
// their values take meanwhile.
#include <set>

#include "viridian/base/units.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

class Schedule {
  public:
    // Each node once, updates of parameters as early as their gradients allow. Errors: those of data_flow().
    static Result<Schedule> make(const graph::Graph& graph);

    // The bytes that are alive when most are, those of states, constants and inputs included.
    [[nodiscard]] std::int64_t most_bytes() const { return always_ + alive_[worst_]; }

    // A Candidate is a value that is alive when most is, and could be computed again afterwards.
    struct Candidate {
        std::size_t root;             // the value whose memory becomes free
        std::size_t before;           // the run before which it is computed again
        std::set<std::size_t> again;  // the runs that compute it, in order
        double gain;                  // bytes that become free, for a second of computing
    };
    // The candidates at the moment at which most is alive, the best first.
    [[nodiscard]] std::vector<Candidate> candidates() const;
    // Returns the schedule in which the readers after the worst moment read what is computed again.
    [[nodiscard]] Schedule with(const Candidate& candidate) const;
    // Returns whether this schedule needs less memory than another one, or needs as much during fewer runs.
    // Whoever goes on to better schedules only comes to an end.
    [[nodiscard]] bool better_than(const Schedule& other) const {
        return std::pair(most_bytes(), worst_count_) < std::pair(other.most_bytes(), other.worst_count_);
    }

    // Returns the graph that has the nodes in this order.
    [[nodiscard]] graph::Graph graph_of(const graph::Graph& graph) const;
    [[nodiscard]] std::int64_t repeated() const;
    [[nodiscard]] Flop repeated_flop() const;

  private:
    // A Run is one execution of a node. Values are numbers: the ids of the graph, then those that are made by
    // a second execution.
    struct Run {
        graph::NodeId node = graph::NodeId::none;
        std::vector<std::size_t> inputs, outputs;
        Flop flop;
        double seconds = 0;
        bool repeatable = false, view = false, second = false;
    };
    struct Kept {  // what is known of a value
        graph::ValueId id = graph::ValueId::none;
        std::int64_t bytes = 0;
        bool always = false;  // an input, a constant or a state
        bool output = false;
    };
    void follow();  // finds who makes and shares what, and how much is alive when
    bool add_again(std::size_t value, std::size_t before, std::size_t root,
                   std::set<std::size_t>& again) const;

    std::vector<Run> runs_;
    std::vector<Kept> values_;
    std::int64_t always_ = 0;
    // These have an entry for each value. A view lies in the memory of another value, its root; every other
    // value is its own root.
    std::vector<std::size_t> root_;
    std::vector<std::size_t> maker_;         // the run that computes the value
    std::vector<std::size_t> first_, last_;  // the runs from which to which a root keeps its memory
    std::vector<std::int64_t> alive_;        // bytes during each run
    std::size_t worst_ = 0;                  // the first run during which most bytes are alive
    std::int64_t worst_count_ = 0;           // how many runs have as many
};

}  // namespace viridian::gradient
