#pragma once
// What `viridian inspect --fusion` says: the regions that one kernel each may compute, and the words they
// move.
#include "viridian/base/json.hpp"
#include "viridian/movement/fusion.hpp"

namespace viridian::cli {

struct FusionAnswer {
    Json json;
    std::string text;
};

// Divides `graph` by `rule` and, if it is the free one, for so many words of fast memory. Errors: those of
// movement::fuse(), and those of graph::free_dimensions_error().
[[nodiscard]] Result<FusionAnswer> describe_fusion(const graph::Graph& graph, movement::FusionRule rule,
                                                   std::int64_t fast_words);

}  // namespace viridian::cli
