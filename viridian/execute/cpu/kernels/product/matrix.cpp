#include "viridian/execute/cpu/kernels/product/matrix.hpp"

#include <algorithm>

namespace viridian::execute::cpu {

using graph::Dims;
using graph::ValueId;

std::optional<MatrixProduct> matrix_product(const Task& task) {
    const graph::Node& node = task.node();
    if ((node.op != graph::op::MatMul && node.op != graph::op::Gemm) || !task.all_f32()) return std::nullopt;
    MatrixProduct product;
    product.a = node.input(0);
    product.b = node.input(1);
    for (const ValueId id : {product.a, product.b, node.outputs[0]})
        if (task.type(id).element != graph::ElementType::f32 || !task.type(id).known()) return std::nullopt;
    if (!task.input_index(product.a) || product.a == product.b) return std::nullopt;
    product.constant_b = task.graph.constant(product.b) != nullptr;
    if (!product.constant_b && !task.input_index(product.b)) return std::nullopt;
    product.a_dims = task.dims(product.a);
    product.b_dims = task.dims(product.b);
    product.result = task.dims(node.outputs[0]);
    for (const Dims* dims : {&product.a_dims, &product.b_dims, &product.result})
        if (dims->size() < 2 || std::ranges::count(*dims, 0) > 0) return std::nullopt;
    if (node.op == graph::op::Gemm) {
        product.transpose_a = node.integer("transA", 0) != 0;
        product.transpose_b = node.integer("transB", 0) != 0;
        if (node.get("alpha", 1.0) != 1.0) return std::nullopt;
        if (node.input(2) != ValueId::none) {
            const ValueId c = node.inputs[2];
            product.constant_bias = task.graph.constant(c) != nullptr;
            if (!product.constant_bias && (!task.input_index(c) || c == product.a || c == product.b))
                return std::nullopt;
            const auto& type = task.type(c);
            if (!type.known() || node.get("beta", 1.0) != 1.0) return std::nullopt;
            const Dims dims = type.dims();
            const auto count = graph::element_count(dims);
            if (!count.ok() || *count != product.result[1] || (dims.size() > 1 && dims.back() != *count))
                return std::nullopt;
            product.bias = c;
        }
    }
    const std::size_t rank = product.result.size();
    product.m = product.result[rank - 2];
    product.n = product.result[rank - 1];
    product.k = product.a_dims[product.a_dims.size() - (product.transpose_a ? 2 : 1)];
    if (product.b_dims.size() == 2 && (product.constant_b || rank > 2)) {
        product.collapsed = rank > 2;
        if (!product.transpose_a) {
            product.m = 1;
            for (std::size_t i = 0; i + 1 < rank; ++i) product.m *= product.result[i];
            product.a_dims = {product.m, product.k};
            product.result = {product.m, product.n};
        }
        return product;
    }
    product.a_dims.insert(product.a_dims.begin(), rank - product.a_dims.size(), 1);
    product.b_dims.insert(product.b_dims.begin(), rank - product.b_dims.size(), 1);
    return product;
}

std::vector<plan::Layout> result_orders(std::size_t rank) {
    std::vector<plan::Layout> list = {plan::plain(rank)};
    if (rank == 4) list.push_back(plan::permuted({0, 2, 1, 3}));
    return list;
}

std::vector<plan::Layout> operand_orders(std::size_t rank, bool right) {
    std::vector<plan::Layout> list = result_orders(rank);
    if (rank == 4) list.push_back(right ? plan::permuted({0, 3, 1, 2}) : plan::permuted({0, 1, 3, 2}));
    if (rank == 3) list.push_back(plan::permuted({0, 2, 1}));
    if (rank == 2) list.push_back(plan::permuted({1, 0}));
    return list;
}

}  // namespace viridian::execute::cpu
