#include "viridian/execute/cpu/kernels/product/attention.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

// The extents of `id` with ones in front, up to `rank`.
Dims extended(const Task& task, ValueId id, std::size_t rank) {
    Dims dims = task.dims(id);
    dims.insert(dims.begin(), rank - dims.size(), 1);
    return dims;
}

bool is_product(const Task& task, const Node& node) {
    return node.op == graph::op::MatMul && task.dims(node.inputs[0]).size() > 1 &&
           task.dims(node.inputs[1]).size() > 1;
}

// A step between the first product and the softmax.
bool read_step(const Task& task, const EpilogueStep& step, std::size_t rank, AttentionRegion& attention) {
    const bool multiplies = step.function == Function::mul;
    const bool divides = step.function == Function::div && !step.reversed;
    if (step.function == Function::add) {
        if (attention.masks.size() == 2) return false;
        attention.masks.push_back({step.operand, extended(task, step.operand, rank)});
        return true;
    }
    if ((!multiplies && !divides) || !attention.masks.empty()) return false;
    const graph::Tensor* constant = task.graph.constant(step.operand);
    if (constant != nullptr && constant->count() == 1) {
        const double number = constant->number(0);
        attention.scale *= multiplies ? number : 1 / number;
        return true;
    }
    const Dims dims = extended(task, step.operand, rank);
    if (!multiplies || !attention.scales.empty() || dims[rank - 1] != 1 || dims[rank - 2] != 1) return false;
    attention.scales.push_back({step.operand, dims});
    return true;
}

bool reads_from_outside(const Task& task, ValueId id) {
    return task.input_index(id) || task.graph.constant(id) != nullptr;
}

}  // namespace

std::int64_t AttentionRegion::heads() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : leading) count *= extent;
    return count;
}

std::optional<AttentionRegion> attention_region(const Task& task) {
    const std::size_t count = task.region.nodes.size();
    if (count < 3 || !task.all_f32() || task.region.outputs.size() != 1) return std::nullopt;
    const Node &first = task.node(0), &softmax = task.node(count - 2), &last = task.node(count - 1);
    if (!is_product(task, first) || softmax.op != graph::op::Softmax || !is_product(task, last) ||
        last.inputs[0] != softmax.outputs[0] || task.region.outputs[0] != last.outputs[0])
        return std::nullopt;
    const Dims scores = task.dims(first.outputs[0]), result = task.dims(last.outputs[0]);
    const std::size_t rank = scores.size();
    const auto axis = graph::normalize_axis(softmax.integer("axis", -1), static_cast<std::int64_t>(rank));
    if (!axis.ok() || *axis != static_cast<std::int64_t>(rank) - 1 || result.size() != rank ||
        !std::equal(scores.begin(), scores.end() - 1, result.begin()) || std::ranges::count(scores, 0) > 0 ||
        std::ranges::count(result, 0) > 0)
        return std::nullopt;
    AttentionRegion attention;
    attention.q = {first.inputs[0], extended(task, first.inputs[0], rank)};
    attention.k = {first.inputs[1], extended(task, first.inputs[1], rank)};
    attention.v = {last.inputs[1], extended(task, last.inputs[1], rank)};
    attention.leading.assign(scores.begin(), scores.end() - 2);
    attention.rows = scores[rank - 2], attention.keys = scores[rank - 1];
    attention.size = attention.q.dims.back(), attention.columns = result.back();
    if (attention.size == 0) return std::nullopt;
    ValueId value = first.outputs[0];
    for (std::size_t i = 1; i + 2 < count; ++i) {
        const auto step = as_step(task, task.node(i), value);
        if (!step || step->operand == ValueId::none || !reads_from_outside(task, step->operand) ||
            !read_step(task, *step, rank, attention))
            return std::nullopt;
        value = task.node(i).outputs[0];
    }
    const bool outside = reads_from_outside(task, attention.q.value) &&
                         reads_from_outside(task, attention.k.value) &&
                         reads_from_outside(task, attention.v.value);
    if (softmax.inputs[0] != value || !outside) return std::nullopt;
    return attention;
}

}  // namespace viridian::execute::cpu
