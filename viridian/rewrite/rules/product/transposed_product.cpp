#include "viridian/rewrite/rules/product/transposed_product.hpp"

namespace viridian::rewrite {

bool keeps_matrices(const Dims& p) {
    const std::int64_t first = static_cast<std::int64_t>(p.size()) - 2;
    return p.size() >= 2 && p[p.size() - 1] >= first && p[p.size() - 2] >= first;
}

bool transposes_matrices(const Dims& p) { return p[p.size() - 1] < p[p.size() - 2]; }

TransposedProduct random_transposed_product(RandomGraph& g) {
    const std::int64_t i = g.extent(1, 4), k = g.extent(1, 5), j = g.extent(1, 3);
    const std::int64_t batches = g.extent(0, 2);
    Dims batch, perm = g.permutation(batches);
    for (std::int64_t n = 0; n < batches; ++n) batch.push_back(g.extent(1, 3));
    TransposedProduct made{batch, batch, perm};
    made.a.insert(made.a.end(), {i, k});
    made.b.insert(made.b.end(), {k, j});
    const bool swapped = batches == 0 || g.coin();
    made.perm.push_back(batches + (swapped ? 1 : 0));
    made.perm.push_back(batches + (swapped ? 0 : 1));
    return made;
}

}  // namespace viridian::rewrite
