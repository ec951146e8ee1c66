#include "viridian/gradient/parameters/find.hpp"

#include <algorithm>

#include "viridian/graph/operators/row.hpp"

namespace viridian::gradient {
namespace {

namespace op = graph::op;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

// The inputs that an operator reads as parameters if they are constant.
struct Reads {
    graph::KnownOperator op;
    std::size_t first, last;
};
constexpr Reads weights[] = {
    {op::Conv, 1, 2},
    {op::ConvTranspose, 1, 2},
    {op::Gemm, 0, 2},
    {op::MatMul, 0, 1},
    {op::Einsum, 0, 1 << 10},
    {op::Gather, 0, 0},
    {op::PRelu, 1, 1},
    {op::BatchNormalization, 1, 2},
    {op::InstanceNormalization, 1, 2},
    {op::GroupNormalization, 1, 2},
    {op::LayerNormalization, 1, 2},
    {op::RMSNormalization, 1, 1},
    {op::LSTM, 1, 3},
    {op::GRU, 1, 3},
    {op::RNN, 1, 3},
};
constexpr graph::KnownOperator broadcasting[] = {op::Add, op::Sub, op::Mul, op::Div};

bool only_moves(const Node& node) {
    const graph::OperatorRow* row = node.op.row();
    return node.op == op::Identity || node.op == op::Cast || node.op == op::CastLike ||
           (row != nullptr && row->operator_class == graph::OperatorClass::movement && node.op != op::Gather);
}

// A mask holds zeros and numbers that an exponential turns into nothing.
bool is_mask(const graph::Tensor& tensor) {
    bool low = false;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        const double value = tensor.number(i);
        if (value != 0 && !(value <= -1e3)) return false;
        low = low || value != 0;
    }
    return low;
}

class Finder {
  public:
    explicit Finder(const Graph& graph) : graph_(graph), uses_(uses(graph)) {}

    [[nodiscard]] bool trained(ValueId value, bool whole = true) const {
        const std::span<const NodeId> readers = uses_.readers(value);
        return std::ranges::any_of(readers, [&](NodeId id) { return reads(graph_.node(id), value, whole); });
    }

  private:
    // Returns whether `node` reads `value` as a parameter, or moves it to a node that does.
    [[nodiscard]] bool reads(const Node& node, ValueId value, bool whole) const {
        for (const Reads& one : weights)
            if (node.op == one.op)
                for (std::size_t i = one.first; i <= std::min(one.last, node.inputs.size()); ++i)
                    if (node.input(i) == value) return true;
        if (std::ranges::any_of(broadcasting, [&](const auto& known) { return node.op == known; }))
            return whole || is_lone_bias(node, value);
        if (only_moves(node) && node.input(0) == value && node.output(0) != ValueId::none)
            return trained(node.output(0), whole);
        return false;
    }

    // A single number that is added to products of one feature is their bias.
    [[nodiscard]] bool is_lone_bias(const Node& node, ValueId value) const {
        const graph::TensorType& own = graph_.value(value).type;
        if (node.op != op::Add || !own.known()) return false;
        if (std::ranges::any_of(own.dims(), [](std::int64_t extent) { return extent != 1; })) return false;
        const ValueId sum = node.input(0) == value ? node.input(1) : node.input(0);
        const Node* product = graph_.producer(sum);
        if (product == nullptr || !graph_.value(sum).type.shape) return false;
        const graph::Shape& shape = *graph_.value(sum).type.shape;
        const bool channels = product->op == op::Conv || product->op == op::ConvTranspose;
        if (shape.size() < 2 || (!channels && product->op != op::MatMul)) return false;
        const graph::Dimension& features = channels ? shape[1] : shape.back();
        return features.known() && features.value() == 1;
    }

    const Graph& graph_;
    graph::Uses uses_;
};

}  // namespace

Result<std::vector<Parameter>> find_parameters(const Graph& graph, std::span<const TrainRule> rules) {
    const Finder finder(graph);
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    std::vector<Parameter> parameters;
    std::vector<bool> seen(graph.value_count());
    for (const NodeId id : order)
        for (const ValueId input : graph.node(id).inputs) {
            const graph::Tensor* tensor = graph.constant(input);
            if (tensor == nullptr || seen[index(input)]) continue;
            seen[index(input)] = true;
            if (!is_floating(tensor->type()) || tensor->rank() < 1 || tensor->count() < 1) continue;
            const bool whole = tensor->count() > 1 && !is_mask(*tensor);
            if (finder.trained(input, whole)) parameters.push_back({input, graph.value(input).name, true});
        }
    if (parameters.empty() && !graph.states().empty())
        return fail(ErrorCode::unsupported, "give the model that the step was made from",
                    "this is a training step already, whose parameters are states");
    if (parameters.empty())
        return fail(ErrorCode::unsupported, "export it with its weights as constants",
                    "the network has no parameters");
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters) names.push_back(parameter.name);
    VIRIDIAN_TRY(const std::vector<bool> chosen, trained(names, rules));
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].trained = chosen[i];
    return parameters;
}

}  // namespace viridian::gradient
