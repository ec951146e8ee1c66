#pragma once
// A certificate that was made with stand-ins for folded weights (fold_cache.hpp), followed with the weights.
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

struct Retraced {
    Graph graph;
    Certificate certificate;  // with the hashes of the real graphs
};

// The graph that `certificate` makes of `graph`, whatever hashes it states; node and value ids are those of
// the graph that it was made with. Errors: mismatch, naming the entry that cannot be followed.
[[nodiscard]] Result<Retraced> retrace(Graph graph, const Certificate& certificate);

}  // namespace viridian::rewrite
