#include "viridian/rewrite/rules/product/matmul_chain.hpp"

#include "viridian/rewrite/rules/product/matrix_product.hpp"

namespace viridian::rewrite {

const Node* inner_product(const Editor& editor, const Node& outer, std::size_t side) {
    return outer.op == op::MatMul && multiplies_matrices(editor, outer)
               ? matrix_product(editor, outer.inputs[side])
               : nullptr;
}

MatmulChain random_matmul_chain(RandomGraph& g) {
    const std::int64_t i = g.extent(1, 4), j = g.extent(1, 5), k = g.extent(1, 3), l = g.extent(1, 6);
    const std::int64_t batch = g.extent(2, 3);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        return g.coin() ? g.input({rows, columns}) : g.input({batch, rows, columns});
    };
    const ValueId a = matrix(i, j);
    const ValueId b = matrix(j, k);
    return {a, b, matrix(k, l)};
}

}  // namespace viridian::rewrite
