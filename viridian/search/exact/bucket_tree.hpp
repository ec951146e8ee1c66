#pragma once
// Tells for every partial assignment what the remaining variables add at least. It builds the tree of tables
// that an elimination order of a problem stands for (one table, or bucket, for each eliminated variable) and
// passes costs up and down it. Afterwards the least cost of everything below and beside each entry of a
// table is known. (The bounds are those of mini-buckets, Dechter and Rish 2003, without their relaxation.)
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

struct BucketTree {
    // An EntryIndex finds the entry of another table, at Σ states[i]·strides[i] + state·own. `states` are
    // those of the scope, `state` is that of the bucket's own variable.
    struct EntryIndex {
        std::uint32_t of = 0;              // a bucket, or an edge of the problem
        std::vector<std::size_t> strides;  // by variable of the scope
        std::size_t own = 0;               // stride of the bucket's own variable
    };
    // A Bucket is the table of one eliminated variable, with an entry for each combination of states of its
    // scope.
    struct Bucket {
        Variable variable = 0;
        std::vector<Variable> scope;       // its neighbours when it is eliminated; the last varies fastest
        std::size_t entries = 1;           // combinations of their states
        std::vector<EntryIndex> edges;     // the problem's edges to variables of the scope
        std::vector<EntryIndex> children;  // buckets that pass their table to this one
    };
    std::vector<Bucket> buckets;       // in the order of elimination
    std::vector<std::uint32_t> roots;  // buckets with an empty scope
};

// Returns the tree that the elimination of the variables of `problem` in this `order` stands for.
[[nodiscard]] BucketTree bucket_tree(const Problem& problem, std::span<const Variable> order);

// An Odometer goes through the states of a scope, one combination after the other.
class Odometer {
  public:
    Odometer(const Problem& problem, const std::vector<Variable>& scope)
        : problem_(&problem), scope_(&scope), states_(scope.size(), 0) {}
    void advance() {
        for (std::size_t i = states_.size(); i-- > 0;) {
            if (++states_[i] < problem_->states((*scope_)[i])) return;
            states_[i] = 0;
        }
    }
    // Returns the entry that `index` finds at the present combination, for state 0 of the own variable.
    [[nodiscard]] std::size_t at(const BucketTree::EntryIndex& index) const {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < states_.size(); ++i) sum += states_[i] * index.strides[i];
        return sum;
    }

  private:
    const Problem* problem_;
    const std::vector<Variable>* scope_;
    std::vector<std::size_t> states_;
};

// LeastCosts are the least costs of the parts of a problem; infinity if every assignment is infinite.
struct LeastCosts {
    double least = infinite;                   // of the whole problem
    std::vector<std::vector<double>> inside;   // by bucket and entry: its variable and all below it
    std::vector<std::vector<double>> outside;  // by bucket and entry: everything else
    std::vector<std::vector<double>> with;     // by variable and state: the whole problem with that state
};

// Returns the least costs of `problem`, whose elimination order made `tree`.
[[nodiscard]] LeastCosts least_costs(const Problem& problem, const BucketTree& tree);

}  // namespace viridian::search
