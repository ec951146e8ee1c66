#include "viridian/plan/precision.hpp"

#include <algorithm>
#include <array>

namespace viridian::plan {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr std::string_view sums = "f32 sums, compute-bound";
constexpr std::string_view once = "one rounding per element";
constexpr std::string_view statistics = "bf16 has f32's range; statistics and sums stay f32";
constexpr std::string_view moves = "no rounding of its own";
constexpr std::string_view compares =
    "no rounding of its own: the answer is a truth value, an index or one of the inputs";
constexpr std::string_view converts = "no rounding but the one the model declares";
constexpr std::string_view whole = "shapes, truth values and constants: nothing to round";
constexpr std::string_view amplifies = "amplifies relative errors";
constexpr std::string_view counts = "bf16 holds integers exactly to 256 only";

// research: TensorFlow's MKL bf16 lists, PyTorch's CPU autocast, OpenVINO's kept subgraphs.
constexpr std::array table = std::to_array<SafetyRow>({
    {"Conv", Safety::allow, sums},
    {"ConvTranspose", Safety::allow, sums},
    {"MatMul", Safety::allow, sums},
    {"Gemm", Safety::allow, sums},
    {"Einsum", Safety::allow, sums},
    {"LSTM", Safety::allow, sums},
    {"GRU", Safety::allow, sums},
    {"RNN", Safety::allow, sums},

    {"Add", Safety::infer, once},
    {"Sub", Safety::infer, once},
    {"Mul", Safety::infer, once},
    {"Div", Safety::infer, once},
    {"Sum", Safety::infer, once},
    {"Mean", Safety::infer, once},
    {"Sqrt", Safety::infer, once},
    {"Reciprocal", Safety::infer, once},
    {"Log", Safety::infer, once},
    {"AveragePool", Safety::infer, once},
    {"GlobalAveragePool", Safety::infer, statistics},
    {"LpPool", Safety::infer, statistics},
    {"ReduceMean", Safety::infer, statistics},
    {"ReduceSum", Safety::infer, statistics},
    {"LeakyRelu", Safety::infer, once},
    {"PRelu", Safety::infer, once},
    {"Elu", Safety::infer, once},
    {"Selu", Safety::infer, once},
    {"Celu", Safety::infer, once},
    {"Sigmoid", Safety::infer, once},
    {"HardSigmoid", Safety::infer, once},
    {"Tanh", Safety::infer, once},
    {"Erf", Safety::infer, once},
    {"Gelu", Safety::infer, once},
    {"HardSwish", Safety::infer, once},
    {"Swish", Safety::infer, once},
    {"Mish", Safety::infer, once},
    {"Softplus", Safety::infer, once},
    {"Softsign", Safety::infer, once},
    {"Softmax", Safety::infer, statistics},
    {"LogSoftmax", Safety::infer, statistics},
    {"BatchNormalization", Safety::infer, statistics},
    {"LayerNormalization", Safety::infer, statistics},
    {"InstanceNormalization", Safety::infer, statistics},
    {"GroupNormalization", Safety::infer, statistics},
    {"RMSNormalization", Safety::infer, statistics},
    {"LpNormalization", Safety::infer, statistics},
    {"LRN", Safety::infer, statistics},
    {"ScatterND", Safety::infer, once},
    {"ScatterElements", Safety::infer, once},

    {"Relu", Safety::clear, moves},
    {"ThresholdedRelu", Safety::clear, moves},
    {"Clip", Safety::clear, moves},
    {"Min", Safety::clear, moves},
    {"Max", Safety::clear, moves},
    {"Abs", Safety::clear, moves},
    {"Neg", Safety::clear, moves},
    {"Sign", Safety::clear, moves},
    {"MaxPool", Safety::clear, moves},
    {"GlobalMaxPool", Safety::clear, moves},
    {"ReduceMax", Safety::clear, moves},
    {"ReduceMin", Safety::clear, moves},
    {"Transpose", Safety::clear, moves},
    {"Reshape", Safety::clear, moves},
    {"Flatten", Safety::clear, moves},
    {"Squeeze", Safety::clear, moves},
    {"Unsqueeze", Safety::clear, moves},
    {"Identity", Safety::clear, moves},
    {"Dropout", Safety::clear, moves},
    {"Concat", Safety::clear, moves},
    {"Split", Safety::clear, moves},
    {"Slice", Safety::clear, moves},
    {"Gather", Safety::clear, moves},
    {"GatherND", Safety::clear, moves},
    {"GatherElements", Safety::clear, moves},
    {"Pad", Safety::clear, moves},
    {"Tile", Safety::clear, moves},
    {"Expand", Safety::clear, moves},
    {"Where", Safety::clear, moves},
    {"DepthToSpace", Safety::clear, moves},
    {"SpaceToDepth", Safety::clear, moves},
    {"Compress", Safety::clear, moves},
    {"ReverseSequence", Safety::clear, moves},
    {"Trilu", Safety::clear, moves},
    {"CenterCropPad", Safety::clear, moves},
    {"Resize", Safety::clear, moves},
    {"Upsample", Safety::clear, moves},
    {"Equal", Safety::clear, compares},
    {"Greater", Safety::clear, compares},
    {"GreaterOrEqual", Safety::clear, compares},
    {"Less", Safety::clear, compares},
    {"LessOrEqual", Safety::clear, compares},
    {"IsNaN", Safety::clear, compares},
    {"IsInf", Safety::clear, compares},
    {"ArgMax", Safety::clear, compares},
    {"ArgMin", Safety::clear, compares},
    {"TopK", Safety::clear, compares},
    {"Cast", Safety::clear, converts},
    {"CastLike", Safety::clear, converts},
    {"Not", Safety::clear, whole},
    {"And", Safety::clear, whole},
    {"Or", Safety::clear, whole},
    {"Xor", Safety::clear, whole},
    {"Shape", Safety::clear, whole},
    {"Size", Safety::clear, whole},
    {"NonZero", Safety::clear, whole},
    {"ConstantOfShape", Safety::clear, whole},
    {"OneHot", Safety::clear, whole},

    {"Exp", Safety::deny, amplifies},
    {"Pow", Safety::deny, amplifies},
    {"ReduceProd", Safety::deny, amplifies},
    {"ReduceSumSquare", Safety::deny, amplifies},
    {"ReduceL2", Safety::deny, amplifies},
    {"ReduceLogSumExp", Safety::deny, amplifies},
    {"CumSum", Safety::deny, amplifies},
    {"SoftmaxCrossEntropyLoss", Safety::deny, amplifies},
    {"NegativeLogLikelihoodLoss", Safety::deny, amplifies},
    {"Range", Safety::deny, counts},
    {"NonMaxSuppression", Safety::deny, counts},
    {"RoiAlign", Safety::deny, counts},
    {"Floor", Safety::deny, counts},
    {"Ceil", Safety::deny, counts},
    {"Round", Safety::deny, counts},
});

bool spreads(Safety safety) { return safety == Safety::infer || safety == Safety::clear; }

}  // namespace

std::string_view name_of(Safety safety) {
    constexpr std::string_view names[] = {"allow", "infer", "clear", "deny"};
    return names[static_cast<std::size_t>(safety)];
}

std::span<const SafetyRow> bf16_table() { return table; }

Safety bf16_safety(const Node& node) {
    if (!node.domain.empty()) return Safety::deny;
    for (const SafetyRow& row : table)
        if (row.op == node.op) return row.safety;
    return Safety::deny;
}

std::vector<bool> f32_nodes(const Graph& graph) {
    std::vector<bool> reached(graph.node_slots()), denied(graph.node_slots());
    const auto order = topological_order(graph);
    if (!order.ok()) return std::vector<bool>(graph.node_slots(), true);
    const auto producer = [&](ValueId value) {
        return value == ValueId::none ? NodeId::none : graph.value(value).producer;
    };
    for (const NodeId id : *order) {
        const Node& node = graph.node(id);
        const Safety safety = bf16_safety(node);
        bool after = false;
        for (const ValueId input : node.inputs)
            if (const NodeId from = producer(input); from != NodeId::none)
                after = after || reached[index(from)];
        reached[index(id)] = safety == Safety::deny || (spreads(safety) && after);
        denied[index(id)] = safety == Safety::deny || (safety == Safety::infer && after);
    }
    for (auto id = order->rbegin(); id != order->rend(); ++id) {
        if (!denied[index(*id)]) continue;
        for (const ValueId input : graph.node(*id).inputs)
            if (const NodeId from = producer(input);
                from != NodeId::none && reached[index(from)] && spreads(bf16_safety(graph.node(from))))
                denied[index(from)] = true;
    }
    return denied;
}

bool rounds(const Graph& graph, const Region& region, const Choice& choice) {
    return rounds_at(graph, region, choice, [](NodeId) { return true; });
}

bool rounds_at(const Graph& graph, const Region& region, const Choice& choice,
               const std::function<bool(NodeId)>& must_not) {
    const auto rounded = [&](ValueId value, const Format& format) {
        return format.element == ElementType::bf16 && graph.value(value).type.element != ElementType::bf16;
    };
    for (std::size_t i = 0; i < region.inputs.size() && i < choice.inputs.size(); ++i) {
        if (!rounded(region.inputs[i], choice.inputs[i])) continue;
        for (const NodeId id : region.nodes)
            if (std::ranges::find(graph.node(id).inputs, region.inputs[i]) != graph.node(id).inputs.end() &&
                must_not(id))
                return true;
    }
    for (std::size_t i = 0; i < region.outputs.size() && i < choice.outputs.size(); ++i)
        if (rounded(region.outputs[i], choice.outputs[i]) &&
            must_not(graph.value(region.outputs[i]).producer))
            return true;
    return false;
}

bool rounds_at(const Graph& graph, const Region& region, const Choice& choice,
               const std::vector<bool>& f32_nodes) {
    return rounds_at(graph, region, choice,
                     [&](NodeId id) { return index(id) < f32_nodes.size() && f32_nodes[index(id)]; });
}

}  // namespace viridian::plan
