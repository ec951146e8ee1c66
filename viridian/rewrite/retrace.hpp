#pragma once
// Follows a certificate that was made with stand-ins for folded weights (fold_cache.hpp), this time with the
// weights.
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

struct Retraced {
    Graph graph;
    Certificate certificate;  // with the hashes of the graphs with weights
};

// Returns the graph that `certificate` makes of `graph`, whatever hashes it states. Ids of nodes and values
// are those of the graph that the certificate was made with. Errors: mismatch, naming the entry that cannot
// be followed.
[[nodiscard]] Result<Retraced> retrace(Graph graph, const Certificate& certificate);

}  // namespace viridian::rewrite
