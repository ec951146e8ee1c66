#pragma once
// Replays a certificate that was made with stand-ins for folded weights (fold_cache.hpp), this time with the
// real weights.
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

struct Retraced {
    Graph graph;
    Certificate certificate;  // with the hashes of the graphs with weights
};

// Applies the rules of `certificate` to `graph` without comparing the hashes that it states. Nodes and values
// get the ids that they had when the certificate was made. Errors: mismatch, naming the entry that does not
// apply, and those of applying a rule and of type inference.
[[nodiscard]] Result<Retraced> retrace(Graph graph, const Certificate& certificate);

}  // namespace viridian::rewrite
