#include "viridian/graph/data_flow.hpp"

#include <algorithm>
#include <set>
#include "viridian/graph/types_of.hpp"

namespace viridian::graph {
namespace {

std::int64_t byte_count(const TensorType& type) {
    if (!type.known()) return 0;
    std::int64_t count = size_of(type.element);
    for (const std::int64_t dimension : type.dims()) count *= dimension;
    return count;
}

constexpr std::int64_t most_bytes = std::int64_t{1} << 44;  // sums of half a million tensors still fit

Result<void> check_size(const Value& value) {
    if (!value.type.known()) return {};
    std::int64_t bytes = size_of(value.type.element);
    for (const std::int64_t dimension : value.type.dims()) {
        if (dimension == 0) return {};
        if (__builtin_mul_overflow(bytes, dimension, &bytes) || bytes > most_bytes)
            return fail(ErrorCode::limit_exceeded, "choose smaller sizes with --dim or --batch",
                        "`{}`, {}, would take more than 16 TiB", value.name, text(value.type));
    }
    return {};
}

Result<void> check_sizes(const Graph& graph) {
    for (std::size_t i = 0; i < graph.value_count(); ++i)
        VIRIDIAN_TRY(check_size(graph.value(static_cast<ValueId>(i))));
    return {};
}

Error too_much() {
    return fail(ErrorCode::limit_exceeded, "choose smaller sizes with --dim or --batch",
                "the model needs more than 2^63 floating-point operations");
}

// A fused operator or function: what its body does, its own inputs and outputs being all that moves. Its
// class is that of its row, or else that of the part of the body with the most operations.
Result<void> count_meaning(const Node& node, NodeFlow& flow) {
    VIRIDIAN_TRY(const DataFlow inner, data_flow(*node.bodies[0]));
    std::int64_t most = -1;
    for (const NodeFlow& part : inner.nodes) {
        flow.counted = flow.counted && part.counted;
        if (__builtin_add_overflow(flow.flop.value, part.flop.value, &flow.flop.value)) return too_much();
        if (part.flop.value > most && find_operator(node) == nullptr)
            flow.operator_class = part.operator_class;
        most = std::max(most, part.flop.value);
    }
    return {};
}

Result<NodeFlow> count(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    NodeFlow flow{.node = id, .flop = {}, .read = {}, .written = {}};
    const OperatorRow* row = find_operator(node);
    if (row != nullptr) flow.operator_class = row->operator_class;
    const std::vector<TensorType> inputs = types_of(graph, node.inputs);
    const std::vector<TensorType> outputs = types_of(graph, node.outputs);
    // A value that no operator gives a type is no absent input, though its element type is undefined too.
    const bool typed = std::ranges::all_of(node.inputs, [&](ValueId input) {
        return input == ValueId::none || graph.value(input).type.known();
    });
    flow.counted = typed && all_known(inputs) && all_known(outputs) && !outputs.empty() && outputs[0].known();
    if (!flow.counted) return flow;
    const Operation operation{node, inputs, outputs};
    flow.read = bytes_read(operation);
    flow.written = bytes_written(operation);
    if (row != nullptr && node.bodies.empty()) {
        flow.flop = flop(operation);
        if (flow.flop.value < 0) return too_much();
    } else if (node.bodies.size() == 1 && flow.operator_class != OperatorClass::control) {
        VIRIDIAN_TRY(count_meaning(node, flow));
    } else {
        flow.counted = false;  // how often a body runs, or which one, is data
    }
    return flow;
}

bool all_shapes_known(const Graph& graph, const std::vector<NodeId>& order) {
    const auto unknown = [&](ValueId id) { return id != ValueId::none && !graph.value(id).type.known(); };
    const std::vector<ValueId> given = run_inputs(graph);
    if (std::any_of(given.begin(), given.end(), unknown)) return false;
    return std::none_of(order.begin(), order.end(), [&](NodeId id) {
        const std::vector<ValueId>& outputs = graph.node(id).outputs;
        return std::any_of(outputs.begin(), outputs.end(), unknown);
    });
}

// Every value alive from its producer to its last reader; inputs and outputs throughout.
Bytes peak(const Graph& graph, const std::vector<NodeId>& order) {
    const Uses readers = uses(graph);
    std::vector<std::size_t> left(graph.value_count());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = readers.count(static_cast<ValueId>(i));
    std::int64_t now = 0;
    for (const ValueId id : graph.inputs()) now += byte_count(graph.value(id).type);
    for (const State& state : graph.states()) now += byte_count(graph.value(state.before).type);
    std::int64_t most = now;
    for (const NodeId at : order) {
        const Node& node = graph.node(at);
        for (const ValueId id : node.outputs)
            if (id != ValueId::none) now += byte_count(graph.value(id).type);
        most = std::max(most, now);
        for (const ValueId id : node.inputs)
            if (id != ValueId::none && --left[index(id)] == 0 &&
                graph.value(id).kind == ValueKind::intermediate)
                now -= byte_count(graph.value(id).type);
        for (const ValueId id : node.outputs)
            if (id != ValueId::none && left[index(id)] == 0) now -= byte_count(graph.value(id).type);
    }
    return Bytes(most);
}

// Shapes, indices and masks are no parameters; i32 holds the biases of quantised layers.
bool is_weight(ElementType type) { return type != ElementType::i64 && type != ElementType::boolean; }

void add_constants(const Graph& graph, std::set<const std::byte*>& seen, DataFlow& flow) {
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const Tensor* constant = graph.constant(static_cast<ValueId>(i));
        if (constant == nullptr || !seen.insert(constant->bytes()).second) continue;
        flow.constants += Bytes(constant->byte_count());
        if (is_weight(constant->type())) flow.parameters += constant->count();
    }
    for (const NodeId id : graph.nodes())
        for (const auto& body : graph.node(id).bodies) add_constants(*body, seen, flow);
}

void add_states(const Graph& graph, DataFlow& flow) {
    if (!graph.states().empty()) flow.parameters = 0;
    for (const State& state : graph.states()) {
        const TensorType& type = graph.value(state.before).type;
        const std::int64_t bytes = byte_count(type);
        flow.states += Bytes(bytes);
        if (state.role == StateRole::parameter && bytes > 0) flow.parameters += bytes / size_of(type.element);
    }
}

}  // namespace

double NodeFlow::intensity() const {
    const Bytes moved = read + written;
    return moved.value == 0 ? 0 : static_cast<double>(flop.value) / static_cast<double>(moved.value);
}

Result<MemoryNeed> memory_need(const Graph& graph) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    VIRIDIAN_TRY(check_sizes(graph));
    DataFlow flow;
    std::set<const std::byte*> seen;
    add_constants(graph, seen, flow);
    return MemoryNeed{flow.constants, peak(graph, order)};
}

Result<DataFlow> data_flow(const Graph& graph) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    VIRIDIAN_TRY(check_sizes(graph));
    DataFlow flow;
    std::int64_t sum = 0;
    for (const NodeId id : order) {
        VIRIDIAN_TRY(NodeFlow node, count(graph, id));
        if (__builtin_add_overflow(sum, node.flop.value, &sum)) return too_much();
        flow.nodes.push_back(node);
    }
    std::set<const std::byte*> seen;
    add_constants(graph, seen, flow);
    add_states(graph, flow);
    if (all_shapes_known(graph, order)) flow.peak_activations = peak(graph, order) - flow.states;
    return flow;
}

std::string_view name_of(OperatorClass operator_class) {
    switch (operator_class) {
        case OperatorClass::contraction:
            return "contraction";
        case OperatorClass::normalization:
            return "normalization";
        case OperatorClass::elementwise:
            return "elementwise";
        case OperatorClass::movement:
            return "movement";
        case OperatorClass::control:
            return "control";
    }
    return "";
}

}  // namespace viridian::graph
