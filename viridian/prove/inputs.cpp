#include "viridian/prove/inputs.hpp"

#include <algorithm>
#include <new>
#include <set>

#include "viridian/base/random.hpp"

namespace viridian::prove {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

// Operators through which an index is still the same index.
bool passes_on(const Node& node) {
    static constexpr graph::KnownOperator names[] = {
        graph::op::Identity, graph::op::Cast,    graph::op::Reshape, graph::op::Unsqueeze,
        graph::op::Squeeze,  graph::op::Flatten, graph::op::Expand};
    return std::find(std::begin(names), std::end(names), node.op) != std::end(names);
}

// The smallest table that `id` indexes, or 2.
std::int64_t index_bound(const Graph& graph, const graph::Uses& uses, ValueId id) {
    std::int64_t bound = 0;
    std::vector<ValueId> open = {id};
    std::set<ValueId> seen = {id};
    while (!open.empty()) {
        const ValueId value = open.back();
        open.pop_back();
        for (const graph::NodeId reader : uses.readers(value)) {
            const Node& node = graph.node(reader);
            if (node.op == graph::op::Gather && node.input(1) == value) {
                const auto& type = graph.value(node.input(0)).type;
                const auto rank = type.shape ? static_cast<std::int64_t>(type.shape->size()) : 0;
                const auto axis = graph::normalize_axis(node.integer("axis", 0), rank);
                if (!axis.ok()) continue;
                const graph::Dimension& rows = (*type.shape)[static_cast<std::size_t>(*axis)];
                if (rows.known()) bound = bound == 0 ? rows.value() : std::min(bound, rows.value());
            } else if (passes_on(node) && node.input(0) == value && seen.insert(node.outputs[0]).second) {
                open.push_back(node.outputs[0]);
            }
        }
    }
    return std::max<std::int64_t>(bound, bound == 0 ? 2 : 1);
}

template <class T>
void fill_integers(Tensor& tensor, Random& random, std::int64_t bound) {
    for (T& value : tensor.mutable_values<T>())
        value = static_cast<T>(random.below(static_cast<std::uint64_t>(bound)));
}

void fill(Tensor& tensor, Random& random, std::int64_t bound) {
    switch (tensor.type()) {
        case ElementType::f64:
            for (double& value : tensor.mutable_values<double>()) value = random.normal();
            break;
        case ElementType::f32:
            for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
            break;
        case ElementType::f16:
            for (auto& value : tensor.mutable_values<std::uint16_t>())
                value = graph::to_half(static_cast<float>(random.normal()));
            break;
        case ElementType::bf16:
            for (auto& value : tensor.mutable_values<std::uint16_t>())
                value = graph::to_bfloat16(static_cast<float>(random.normal()));
            break;
        case ElementType::i64:
        case ElementType::u64:
            fill_integers<std::int64_t>(tensor, random, bound);
            break;
        case ElementType::i32:
        case ElementType::u32:
            fill_integers<std::int32_t>(tensor, random, bound);
            break;
        case ElementType::i16:
        case ElementType::u16:
            fill_integers<std::int16_t>(tensor, random, std::min<std::int64_t>(bound, 1 << 15));
            break;
        case ElementType::i8:
        case ElementType::u8:
            fill_integers<std::int8_t>(tensor, random, std::min<std::int64_t>(bound, 1 << 7));
            break;
        case ElementType::boolean:
            fill_integers<std::int8_t>(tensor, random, 2);
            break;
        case ElementType::undefined:
            break;
    }
}

// The learning rate of a training step, and what its loss is multiplied by: with 1, a step adds the gradients
// themselves to weights, so that rounding hides least of them.
bool is_step_number(const graph::Value& value) {
    return value.name.starts_with("viridian.") && is_floating(value.type.element) &&
           value.type.dims().empty();
}

Tensor one_of(const Tensor& like) {
    if (like.type() == ElementType::f64) return Tensor::of<double>(ElementType::f64, {}, std::vector{1.0});
    return like.type() == ElementType::f32 ? Tensor::scalar(1.0F) : like;
}

}  // namespace

Result<std::vector<Tensor>> seeded_inputs(const Graph& graph, std::uint64_t seed) {
    const graph::Uses uses = graph::uses(graph);
    Random random(seed);
    std::vector<Tensor> inputs;
    for (const ValueId id : run_inputs(graph)) {
        const graph::Value& value = graph.value(id);
        if (const Tensor* first = graph.first_value(id)) {
            inputs.push_back(*first);
            continue;
        }
        if (!value.type.known())
            return fail(ErrorCode::unsupported, "bind its dimensions with --dim NAME=VALUE",
                        "the shape of the input `{}` is not known: {}", value.name, text(value.type));
        VIRIDIAN_TRY(graph::element_count(value.type.dims()));
        try {
            Tensor tensor(value.type.element, value.type.dims());
            fill(tensor, random, index_bound(graph, uses, id));
            if (is_step_number(value)) tensor = one_of(tensor);
            inputs.push_back(std::move(tensor));
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::out_of_memory, "choose smaller sizes with --dim or --batch",
                        "there is no memory for the input `{}`, {}", value.name, text(value.type));
        }
    }
    return inputs;
}

}  // namespace viridian::prove
