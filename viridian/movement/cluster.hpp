#pragma once
// A Cluster is a set of operators that one kernel can compute, while the finder of regions grows it.
#include <array>
#include <limits>

#include "viridian/movement/operators.hpp"

namespace viridian::movement {

// A Stage is a part of a cluster whose operators share all loops. A cluster that fused partially has several,
// which run one after the other inside the outer loops that they share.
struct Stage {
    graph::IterationSpace loops;
};

inline constexpr std::size_t every_loop = std::numeric_limits<std::size_t>::max();

struct Cluster {
    std::vector<Stage> stages;
    std::size_t outer = every_loop;    // how many outermost loops all stages share; every_loop with one stage
    std::vector<std::size_t> members;  // operators
};

// A Place says where an operator stands: its cluster, its stage, and the stage's loop of each of its own
// loops.
struct Place {
    std::size_t cluster = 0;
    std::size_t stage = 0;
    std::vector<std::size_t> loops;
};

// A Link between two operators: the pairs of their own loops that run along one axis of a tensor that one of
// them computes and the other reads, or that both read. `known` is false if no such pairs are known, because
// one of them has no walk or views between them split or join axes.
struct Link {
    std::vector<std::array<std::size_t, 2>> loops;
    bool known = true;
};

// A Match is how two stages go together: for each loop of the second one the loop of the first, or every_loop
// for a loop that the first one lacks, which is then reduced. If `outer` is not every_loop, they share only
// so many outermost loops.
struct Match {
    std::vector<std::size_t> loops;
    std::size_t outer = every_loop;
};

// Matches stage `second` to stage `first`, given the pairs of stage loops that run along the same axes.
// Returns none if their spaces are neither the same up to one side's reduction nor, with `partial`, share
// outermost independent loops.
[[nodiscard]] std::optional<Match> match(const Stage& first, const Stage& second,
                                         const std::vector<std::array<std::size_t, 2>>& pairs, bool partial);

}  // namespace viridian::movement
