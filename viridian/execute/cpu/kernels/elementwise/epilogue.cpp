#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using graph::Node;
using graph::ValueId;

struct EpilogueNamed {
    graph::KnownOperator op;
    Function function;
    float alpha = 0;  // defaults of the attributes below
    float beta = 0;
    std::string_view beta_name = "beta";
    std::string_view alpha_name = "alpha";
};

constexpr std::array unary = {
    EpilogueNamed{graph::op::Relu, Function::relu},
    EpilogueNamed{graph::op::LeakyRelu, Function::leaky_relu, 0.01F},
    EpilogueNamed{graph::op::Sigmoid, Function::sigmoid},
    EpilogueNamed{graph::op::Tanh, Function::tanh},
    EpilogueNamed{graph::op::Elu, Function::elu, 1.0F},
    EpilogueNamed{graph::op::HardSigmoid, Function::hard_sigmoid, 0.2F, 0.5F},
    EpilogueNamed{graph::op::HardSwish, Function::hard_swish},
    EpilogueNamed{graph::op::Softplus, Function::softplus},
    EpilogueNamed{graph::op::Exp, Function::exp},
    EpilogueNamed{graph::op::Log, Function::log},
    EpilogueNamed{graph::op::Sqrt, Function::sqrt},
    EpilogueNamed{graph::op::Erf, Function::erf},
    EpilogueNamed{graph::op::Abs, Function::abs},
    EpilogueNamed{graph::op::Neg, Function::neg},
    EpilogueNamed{graph::op::Reciprocal, Function::reciprocal},
    EpilogueNamed{graph::op::Sign, Function::sign},
    EpilogueNamed{graph::op::Floor, Function::floor},
    EpilogueNamed{graph::op::Ceil, Function::ceil},
    EpilogueNamed{graph::op::Round, Function::round},
    EpilogueNamed{graph::op::ThresholdedRelu, Function::thresholded_relu, 1.0F},
    EpilogueNamed{graph::op::Selu, Function::selu, 1.67326319F, 1.05070102F, "gamma"},
    EpilogueNamed{graph::op::Celu, Function::celu, 1.0F},
    EpilogueNamed{graph::op::Shrink, Function::shrink, 0.5F, 0.0F, "bias", "lambd"},
    EpilogueNamed{graph::op::Softsign, Function::softsign},
    EpilogueNamed{graph::op::Swish, Function::swish, 1.0F},
    EpilogueNamed{graph::op::Mish, Function::mish},
    EpilogueNamed{graph::op::Sin, Function::sin},
    EpilogueNamed{graph::op::Cos, Function::cos},
    EpilogueNamed{graph::op::Tan, Function::tan},
    EpilogueNamed{graph::op::Asin, Function::asin},
    EpilogueNamed{graph::op::Acos, Function::acos},
    EpilogueNamed{graph::op::Atan, Function::atan},
    EpilogueNamed{graph::op::Sinh, Function::sinh},
    EpilogueNamed{graph::op::Cosh, Function::cosh},
    EpilogueNamed{graph::op::Asinh, Function::asinh},
    EpilogueNamed{graph::op::Acosh, Function::acosh},
    EpilogueNamed{graph::op::Atanh, Function::atanh},
};
constexpr std::array binary = {
    EpilogueNamed{graph::op::Add, Function::add}, EpilogueNamed{graph::op::Sum, Function::add},
    EpilogueNamed{graph::op::Sub, Function::sub}, EpilogueNamed{graph::op::Mul, Function::mul},
    EpilogueNamed{graph::op::Div, Function::div}, EpilogueNamed{graph::op::Min, Function::min},
    EpilogueNamed{graph::op::Max, Function::max}, EpilogueNamed{graph::op::Pow, Function::pow},
};

bool is_f32(const Task& task, ValueId id) {
    return task.type(id).element == ElementType::f32 && task.type(id).known();
}

std::optional<float> scalar(const Task& task, ValueId id, float otherwise) {
    if (id == ValueId::none) return otherwise;
    const graph::Tensor* constant = task.graph.constant(id);
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    return static_cast<float>(constant->number(0));
}

bool broadcasts_into(const graph::Dims& from, const graph::Dims& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::int64_t have = from[from.size() - 1 - i];
        if (have != 1 && have != to[to.size() - 1 - i]) return false;
    }
    return true;
}

std::optional<EpilogueStep> unary_step(const Task& task, const Node& node) {
    if (node.op == graph::op::Clip) {
        const auto low = scalar(task, node.input(1), std::numeric_limits<float>::lowest());
        const auto high = scalar(task, node.input(2), std::numeric_limits<float>::max());
        if (!low || !high || !(*low <= *high)) return std::nullopt;
        return EpilogueStep{Function::clip, *low, *high};
    }
    if (node.op == graph::op::Gelu) {
        const bool tanh = node.get("approximate", std::string("none")) == "tanh";
        return EpilogueStep{tanh ? Function::gelu_tanh : Function::gelu_erf};
    }
    // The vector code bounds its exponent as if alpha were positive.
    if (node.op == graph::op::Celu && !(node.get("alpha", 1.0) > 0)) return std::nullopt;
    for (const EpilogueNamed& named : unary)
        if (named.op == node.op)
            return EpilogueStep{
                named.function,
                static_cast<float>(node.get(named.alpha_name, static_cast<double>(named.alpha))),
                static_cast<float>(node.get(named.beta_name, static_cast<double>(named.beta)))};
    return std::nullopt;
}

// Returns the only node of `body` with this operator, or null.
const Node* only(const graph::Graph& body, graph::KnownOperator op) {
    const Node* found = nullptr;
    for (const graph::NodeId id : body.nodes()) {
        if (body.node(id).op != op) continue;
        if (found != nullptr) return nullptr;
        found = &body.node(id);
    }
    return found;
}

bool is_zero(const graph::Graph& body, ValueId id) {
    const graph::Tensor* constant = id == ValueId::none ? nullptr : body.constant(id);
    return constant != nullptr && constant->count() == 1 && constant->number(0) == 0;
}

// Returns what decides where the gradient passes, if the body is Where(…, g, 0) with `nodes` nodes in all and
// g is its first input. A file may give any body to an operator of the domain `viridian`.
const Node* passing(const graph::Graph& body, std::size_t nodes) {
    const Node* where = only(body, graph::op::Where);
    if (where == nullptr || body.nodes().size() != nodes || where->inputs.size() != 3 ||
        body.outputs().size() != 1 || body.outputs()[0] != where->outputs[0] ||
        where->inputs[0] == ValueId::none || where->inputs[1] != body.inputs()[0] ||
        !is_zero(body, where->inputs[2]))
        return nullptr;
    return body.producer(where->inputs[0]);
}

// ReluGrad: the gradient where y > 0.
bool passes_where_positive(const graph::Graph& body) {
    const Node* condition = body.inputs().size() == 2 ? passing(body, 2) : nullptr;
    return condition != nullptr && condition->op == graph::op::Greater &&
           condition->input(0) == body.inputs()[1] && is_zero(body, condition->input(1));
}

// ClipGrad: the gradient where x lies within the bounds.
bool passes_within_bounds(const graph::Graph& body) {
    const Node* condition = body.inputs().size() == 4 ? passing(body, 4) : nullptr;
    if (condition == nullptr || condition->op != graph::op::And || condition->inputs.size() != 2)
        return false;
    const Node *above = only(body, graph::op::GreaterOrEqual), *below = only(body, graph::op::LessOrEqual);
    const std::vector<ValueId>& in = body.inputs();
    return above != nullptr && below != nullptr && body.producer(condition->inputs[0]) == above &&
           body.producer(condition->inputs[1]) == below && above->inputs == std::vector{in[1], in[2]} &&
           below->inputs == std::vector{in[1], in[3]};
}

// The gradient of a piecewise linear function, as a step on the gradient x that arrives.
std::optional<EpilogueStep> gradient_step(const Task& task, const Node& node, ValueId x) {
    if (node.bodies.size() != 1 || node.inputs.size() < 2 || node.inputs[0] != x || node.inputs[1] == x ||
        !is_f32(task, node.inputs[1]))
        return std::nullopt;
    const graph::Dims dims = task.dims(x);
    if (task.dims(node.inputs[1]) != dims || task.dims(node.outputs[0]) != dims) return std::nullopt;
    const graph::Graph& body = *node.bodies[0];
    if (node.op == graph::op::ReluGrad && passes_where_positive(body))
        return EpilogueStep{Function::relu_gradient, 0, 0, node.inputs[1]};
    if (node.op != graph::op::ClipGrad || !passes_within_bounds(body)) return std::nullopt;
    const auto low = scalar(task, node.input(2), 0), high = scalar(task, node.input(3), 0);
    if (!low || !high) return std::nullopt;
    return EpilogueStep{Function::clip_gradient, *low, *high, node.inputs[1]};
}

}  // namespace

std::optional<Gate> gate_at(const Task& task, std::size_t i, ValueId x) {
    std::array<std::optional<EpilogueStep>, 2> inner;  // f, one or two steps
    ValueId value = x;
    for (std::size_t k = 0; k < inner.size() && i + k + 1 < task.region.nodes.size(); ++k) {
        inner[k] = as_step(task, task.node(i + k), value);
        if (!inner[k]) return std::nullopt;
        value = task.node(i + k).outputs[0];
        const auto product = as_step(task, task.node(i + k + 1), x);
        if (!product || product->function != Function::mul || product->operand != value) continue;
        const EpilogueStep &first = *inner[0], &last = *inner[k];
        if (k == 0 && last.function == Function::sigmoid) return Gate{{Function::swish, 1.0F}, 2};
        if (k == 1 && last.function == Function::sigmoid && first.function == Function::mul)
            if (const auto alpha = scalar(task, first.operand, 1.0F))
                return Gate{{Function::swish, *alpha}, 3};
        if (k == 1 && last.function == Function::tanh && first.function == Function::softplus)
            return Gate{{Function::mish}, 3};
        return std::nullopt;
    }
    return std::nullopt;
}

bool keeps_zero(const EpilogueStep& step, bool operand_is_zero) {
    switch (step.function) {
        case Function::clip:
            return step.alpha <= 0 && step.beta >= 0;
        case Function::thresholded_relu:
        case Function::shrink:
            return step.alpha >= 0;
        case Function::sigmoid:
        case Function::hard_sigmoid:
        case Function::softplus:
        case Function::exp:
        case Function::log:
        case Function::reciprocal:
        case Function::cos:
        case Function::acos:
        case Function::cosh:
        case Function::acosh:
        case Function::div:
        case Function::pow:
            return false;
        default:
            return !is_binary(step.function) || operand_is_zero;
    }
}

std::optional<EpilogueStep> as_step(const Task& task, const Node& node, ValueId x) {
    if (node.outputs.size() != 1 || !is_f32(task, x) || !is_f32(task, node.outputs[0])) return std::nullopt;
    if (!node.op.domain().empty()) return gradient_step(task, node, x);
    if (node.input(0) == x && task.dims(x) == task.dims(node.outputs[0]))
        if (auto step = unary_step(task, node)) return step;
    if (node.inputs.size() != 2) return std::nullopt;
    for (const EpilogueNamed& named : binary) {
        if (named.op != node.op) continue;
        const bool reversed = node.inputs[0] != x;
        const ValueId other = reversed ? node.inputs[0] : node.inputs[1];
        if (reversed && node.inputs[1] != x) return std::nullopt;
        if (other == x) {
            if (named.function == Function::mul) return EpilogueStep{Function::square};
            return std::nullopt;
        }
        const graph::Dims result = task.dims(node.outputs[0]);
        if (!is_f32(task, other) || task.dims(x) != result || !broadcasts_into(task.dims(other), result))
            return std::nullopt;
        if (named.function == Function::pow && !reversed)
            if (const auto exponent = scalar(task, other, 0); exponent && *exponent == 2.0F)
                return EpilogueStep{Function::square};
        return EpilogueStep{named.function, 0, 0, other, reversed};
    }
    return std::nullopt;
}

std::optional<std::vector<EpilogueStep>> read_step_range(const Task& task, std::size_t first,
                                                         std::size_t last, ValueId& value) {
    std::vector<EpilogueStep> steps;
    for (std::size_t i = first; i < last; ++i) {
        if (const auto gate = gate_at(task, i, value)) {
            i += gate->nodes - 1;
            steps.push_back(gate->step);
            value = task.node(i).outputs[0];
            continue;
        }
        const Node& node = task.node(i);
        const auto step = as_step(task, node, value);
        if (!step) return std::nullopt;
        // An operand made inside the region would be a second chain.
        if (step->operand != ValueId::none && task.graph.constant(step->operand) == nullptr &&
            !task.input_index(step->operand))
            return std::nullopt;
        steps.push_back(*step);
        value = node.outputs[0];
    }
    return steps;
}

std::optional<std::vector<EpilogueStep>> read_epilogue(const Task& task) {
    const Node& head = task.node();
    for (std::size_t i = 1; i < head.outputs.size(); ++i)
        if (head.outputs[i] != ValueId::none && task.region.nodes.size() > 1) return std::nullopt;
    if (head.outputs.empty() || head.outputs[0] == ValueId::none) return std::nullopt;
    for (const auto id : task.region.inputs)
        if (!task.type(id).known()) return std::nullopt;
    ValueId value = head.outputs[0];
    auto steps = read_step_range(task, 1, task.region.nodes.size(), value);
    if (!steps || task.region.outputs.size() != 1 || task.region.outputs[0] != value) return std::nullopt;
    return steps;
}

}  // namespace viridian::execute::cpu
