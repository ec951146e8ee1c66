#include "viridian/execute/cpu/kernels/product/attention.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/graph/operators/training/attention_grad.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;
using Operand = AttentionRegion::Operand;

// The extents of `id` with ones in front, up to `rank`.
Dims extended(const Task& task, ValueId id, std::size_t rank) {
    Dims dims = task.dims(id);
    dims.insert(dims.begin(), rank - dims.size(), 1);
    return dims;
}

Operand operand(const Task& task, ValueId id, std::size_t rank) { return {id, extended(task, id, rank)}; }

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

std::optional<double> number_of(const Task& task, ValueId id) {
    const graph::Tensor* constant = task.graph.constant(id);
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    return constant->number(0);
}

// Where(flags, value, number), or Where(flags, number, value).
bool read_hidden(const Task& task, const Node& node, ValueId value, const Dims& scores,
                 AttentionRegion& attention) {
    if (node.op != graph::op::Where || attention.hidden || node.inputs[0] == ValueId::none) return false;
    const bool keeps = node.inputs[1] == value;
    const auto number = number_of(task, node.inputs[keeps ? 2 : 1]);
    if (node.inputs[keeps ? 1 : 2] != value || !number || task.dims(node.outputs[0]) != scores ||
        !reads_from_outside(task, node.inputs[0]))
        return false;
    attention.hidden = {operand(task, node.inputs[0], scores.size()), keeps, *number};
    return true;
}

bool is_softmax_of(const Node& node, ValueId value, std::size_t rank) {
    const auto axis = graph::normalize_axis(node.integer("axis", -1), static_cast<std::int64_t>(rank));
    return node.inputs[0] == value && axis.ok() && *axis == static_cast<std::int64_t>(rank) - 1;
}

// A step between the softmax and the second product: a number times the probabilities, or 0 for those that
// the dropout does not keep.
bool read_dropout(const Task& task, const Node& node, ValueId value, const Dims& scores,
                  AttentionRegion& attention) {
    if (node.op == graph::op::Mul) {
        const ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
        const auto factor = number_of(task, other);
        if (other == value || !factor) return false;
        attention.kept_scale *= *factor;
        return true;
    }
    if (node.op != graph::op::Where || attention.kept || node.inputs[1] != value ||
        number_of(task, node.inputs[2]) != 0.0 || !task.input_index(node.inputs[0]) ||
        task.dims(node.inputs[0]) != scores)
        return false;
    attention.kept = operand(task, node.inputs[0], scores.size());
    return true;
}

// Whether the matrices of `dims` are those of `whole`, with leading extents of 1 where they are repeated.
bool broadcasts(const Dims& dims, const Dims& whole) {
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (dims[i] != whole[i] && (dims[i] != 1 || i + 2 >= dims.size())) return false;
    return true;
}

bool may_mean_gradient(const Node& node) {
    return body_consists_of(node, {{graph::op::MatMul, 5, 5},
                                   {graph::op::Softmax, 1, 1},
                                   {graph::op::ReduceSum, 1, 1},
                                   {graph::op::Sub, 1, 1},
                                   {graph::op::Mul, 2, 6},
                                   {graph::op::Where, 0, 4},
                                   {graph::op::Add, 0, 2}});
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
    const Node &first = task.node(0), &last = task.node(count - 1);
    if (!is_product(task, first) || !is_product(task, last) || task.region.outputs[0] != last.outputs[0])
        return std::nullopt;
    const Dims scores = task.dims(first.outputs[0]), result = task.dims(last.outputs[0]);
    const std::size_t rank = scores.size();
    if (result.size() != rank || !std::equal(scores.begin(), scores.end() - 1, result.begin()) ||
        std::ranges::count(scores, 0) > 0 || std::ranges::count(result, 0) > 0)
        return std::nullopt;
    AttentionRegion attention;
    attention.q = operand(task, first.inputs[0], rank);
    attention.k = operand(task, first.inputs[1], rank);
    attention.v = operand(task, last.inputs[1], rank);
    attention.leading.assign(scores.begin(), scores.end() - 2);
    attention.rows = scores[rank - 2], attention.keys = scores[rank - 1];
    attention.size = attention.q.dims.back(), attention.columns = result.back();
    if (attention.size == 0) return std::nullopt;
    ValueId value = first.outputs[0];
    std::size_t i = 1;
    for (; i + 1 < count && task.node(i).op != graph::op::Softmax; ++i) {
        const Node& node = task.node(i);
        if (attention.hidden) return std::nullopt;  // it is the last step
        const auto step = as_step(task, node, value);
        if (read_hidden(task, node, value, scores, attention)) {
            value = node.outputs[0];
            continue;
        }
        if (!step || step->operand == ValueId::none || !reads_from_outside(task, step->operand) ||
            !read_step(task, *step, rank, attention))
            return std::nullopt;
        value = node.outputs[0];
    }
    if (i + 1 >= count || !is_softmax_of(task.node(i), value, rank)) return std::nullopt;
    value = task.node(i).outputs[0];
    for (++i; i + 1 < count; ++i) {
        if (!read_dropout(task, task.node(i), value, scores, attention)) return std::nullopt;
        value = task.node(i).outputs[0];
    }
    const bool outside = reads_from_outside(task, attention.q.value) &&
                         reads_from_outside(task, attention.k.value) &&
                         reads_from_outside(task, attention.v.value);
    if (last.inputs[0] != value || !outside) return std::nullopt;
    return attention;
}

std::optional<AttentionRegion> attention_gradient(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::AttentionGrad || !task.all_f32() ||
        task.region.outputs.size() != 3 || !may_mean_gradient(node))
        return std::nullopt;
    const auto is_matrix = [&](ValueId id) {
        return task.type(id).element == ElementType::f32 && task.dims(id).size() > 1;
    };
    if (std::ranges::count(node.inputs, ValueId::none) > 0 ||
        !std::ranges::all_of(std::span(node.inputs).first(4), is_matrix) ||
        !std::ranges::all_of(node.outputs, is_matrix))
        return std::nullopt;
    const Dims result = task.dims(node.inputs[3]), dq = task.dims(node.outputs[0]);
    const std::size_t rank = result.size();
    for (const ValueId id : node.inputs)
        if (task.dims(id).size() > rank || std::ranges::count(task.dims(id), 0) > 0) return std::nullopt;
    if (dq.size() != rank) return std::nullopt;
    AttentionRegion attention;
    attention.q = operand(task, node.inputs[0], rank);
    attention.k = operand(task, node.inputs[1], rank);
    attention.v = operand(task, node.inputs[2], rank);
    attention.dy = operand(task, node.inputs[3], rank);
    attention.leading.assign(result.begin(), result.end() - 2);
    attention.rows = result[rank - 2], attention.columns = result[rank - 1];
    attention.size = dq[rank - 1], attention.keys = attention.k.dims[rank - 1];
    attention.scale = node.get("scale", 1.0), attention.kept_scale = node.get("kept_scale", 1.0);
    const auto whole = [&](std::int64_t rows, std::int64_t columns) {
        Dims dims = attention.leading;
        dims.insert(dims.end(), {rows, columns});
        return dims;
    };
    const Dims scores = whole(attention.rows, attention.keys);
    const auto spreads = [&](const Operand& flags) {  // to the scores
        for (std::size_t axis = 0; axis < rank; ++axis)
            if (flags.dims[axis] != 1 && flags.dims[axis] != scores[axis]) return false;
        return true;
    };
    const std::int64_t hides = node.integer("hides", 0);  // 1: the flags keep scores, 2: they hide them
    const std::size_t kept = node.integer("drops", 0) != 0 ? 4 : 0;
    const std::size_t hidden = hides != 0 ? node.inputs.size() - 1 : 0;
    for (std::size_t i = 4; i < node.inputs.size(); ++i) {
        Operand own = operand(task, node.inputs[i], rank);
        const bool flags = i == kept || i == hidden;
        if (!spreads(own) ||
            task.type(node.inputs[i]).element != (flags ? ElementType::boolean : ElementType::f32))
            return std::nullopt;
        if (i == kept && own.dims == scores)
            attention.kept = std::move(own);
        else if (i == hidden)
            attention.hidden = {std::move(own), hides == 1, node.get("hidden_score", 0.0)};
        else if (i != kept)
            attention.masks.push_back(std::move(own));
    }
    if ((kept != 0) != attention.kept.has_value() || (hides != 0) != attention.hidden.has_value())
        return std::nullopt;
    const bool fits = broadcasts(attention.q.dims, whole(attention.rows, attention.size)) &&
                      broadcasts(attention.k.dims, whole(attention.size, attention.keys)) &&
                      broadcasts(attention.v.dims, whole(attention.keys, attention.columns)) &&
                      dq == whole(attention.rows, attention.size) &&
                      task.dims(node.outputs[1]) == whole(attention.size, attention.keys) &&
                      task.dims(node.outputs[2]) == whole(attention.keys, attention.columns);
    if (!fits || attention.masks.size() > 2) return std::nullopt;
    return attention;
}

}  // namespace viridian::execute::cpu
