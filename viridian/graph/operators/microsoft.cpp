// Operators of the domain com.microsoft that ONNX Runtime's own optimiser leaves in the models it saves
// (levels up to "extended", CPU). Each is computed by the standard operators it fuses.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/recurrent/recurrent.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

// The node as the standard operator `op` on its first `inputs` inputs.
Node as_standard(const Node& node, KnownOperator op, std::size_t inputs, std::size_t outputs = 1) {
    Node standard = node;
    standard.op = op;
    standard.inputs.resize(std::min(inputs, standard.inputs.size()));
    standard.outputs.resize(outputs, ValueId{0});
    return standard;
}

// Output 0 as `standard` infers it from `types`.
Result<void> infer_as(Inference& inference, const Node& standard, std::vector<TensorType> types) {
    std::vector<const Tensor*> constants(types.size());
    Inference part(standard, std::move(types), std::move(constants));
    VIRIDIAN_TRY(find_operator(standard)->infer(part));
    inference.set(0, part.outputs()[0].element, part.outputs()[0].shape);
    return {};
}

template <std::size_t inputs>
std::vector<TensorType> first_types(const Inference& inference) {
    std::vector<TensorType> types;
    for (std::size_t i = 0; i < std::min(inputs, inference.input_count()); ++i)
        types.push_back(inference.input(i));
    return types;
}

template <class Scalar>
Result<std::vector<Array<Scalar>>> compute(const Node& standard, std::vector<const Array<Scalar>*> inputs,
                                           Rounding rounding) {
    inputs.resize(std::min(inputs.size(), standard.inputs.size()));
    Call<Scalar> call{standard, std::move(inputs), std::vector<Array<Scalar>>(standard.outputs.size()),
                      rounding};
    const Reference& reference = find_operator(standard)->reference;
    if constexpr (std::is_same_v<Scalar, float>) {
        VIRIDIAN_TRY(reference.f32(call));
    } else {
        VIRIDIAN_TRY(reference.f64(call));
    }
    return std::move(call.outputs);
}

// --- activations fused behind a product

using Activation = std::vector<GateFunction>;  // none or one
Result<Activation> activation_of(const Node& node) {
    const std::string name = node.get("activation", std::string());
    if (name.empty()) return Activation();
    std::vector<double> parameters = node.get("activation_params", std::vector<double>());
    for (const char* key : {"activation_alpha", "activation_beta"})
        if (node.has(key)) parameters.push_back(node.get(key, 0.0));
    if (name == "Clip" && parameters.size() == 2) return Activation{{name, parameters[0], parameters[1]}};
    Node cell;
    cell.name = node.name;
    cell.attributes["activations"] = std::vector<std::string>{name};
    if (!parameters.empty()) cell.attributes["activation_alpha"] = std::vector<double>{parameters[0]};
    if (parameters.size() > 1) cell.attributes["activation_beta"] = std::vector<double>{parameters[1]};
    return gate_functions(cell, 1, {"Relu"});
}

double activated(const Activation& activation, double x) {
    if (activation.empty()) return x;
    const GateFunction& f = activation.front();
    return f.name == "Clip" ? std::clamp(x, f.alpha, std::max(f.alpha, f.beta)) : f(x);
}

template <const KnownOperator& standard_op, std::size_t inputs>
Result<void> infer_activated(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(activation_of(inference.node()));
    VIRIDIAN_TRY(infer_as(inference, as_standard(inference.node(), standard_op, inputs),
                          first_types<inputs>(inference)));
    if (inference.outputs()[0].shape)
        VIRIDIAN_TRY(expect_shape(inference, inputs, *inference.outputs()[0].shape));
    return {};
}

// Y = activation(op(inputs) + Z); Z is the input behind the operator's own.
template <const KnownOperator& standard_op, std::size_t inputs, class CallType>
Result<void> run_activated(CallType& call) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    VIRIDIAN_TRY(const Activation activation, activation_of(call.node));
    VIRIDIAN_TRY(auto outputs,
                 compute<Scalar>(as_standard(call.node, standard_op, inputs), call.inputs, call.rounding));
    const Array<Scalar>* z = call.input(inputs);
    for (std::size_t i = 0; i < outputs[0].real.size(); ++i) {
        Scalar& y = outputs[0].real[i];
        const double sum = static_cast<double>(y) + (z == nullptr ? 0 : static_cast<double>(z->real[i]));
        y = static_cast<Scalar>(activated(activation, sum));
    }
    call.outputs[0] = std::move(outputs[0]);
    return {};
}

template <const KnownOperator& standard_op, std::size_t inputs>
Flop activated_flop(const Operation& operation) {
    const Node standard = as_standard(operation.node, standard_op, inputs);
    const auto count = std::min(inputs, operation.inputs.size());
    const bool adds = operation.inputs.size() > inputs;
    return flop({standard, operation.inputs.first(count), operation.outputs}) +
           Flop((adds ? 2 : 1) * count_of(operation.outputs[0]));
}
template <const KnownOperator& standard_op, std::size_t inputs>
IterationSpace standard_space(const Operation& operation) {
    const Node standard = as_standard(operation.node, standard_op, inputs);
    const auto count = std::min(inputs, operation.inputs.size());
    return iteration_space({standard, operation.inputs.first(count), operation.outputs});
}

// --- FusedMatMul: alpha · op(A) · op(B), op swapping the last two axes

bool swaps(const Node& node, std::size_t input) {
    return node.integer(input == 0 ? "transA" : "transB", 0) != 0;
}

Result<void> infer_fused_matmul(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    const Node& node = inference.node();
    if (node.integer("transBatchA", 0) != 0 || node.integer("transBatchB", 0) != 0)
        return fail(ErrorCode::unsupported, "save the model at a lower optimisation level",
                    "FusedMatMul `{}` transposes its batch axes", node.name);
    std::vector<TensorType> types = first_types<2>(inference);
    for (std::size_t i = 0; i < types.size(); ++i)
        if (auto& shape = types[i].shape; shape && shape->size() > 1 && swaps(node, i))
            std::swap(shape->end()[-1], shape->end()[-2]);
    return infer_as(inference, as_standard(node, op::MatMul, 2), std::move(types));
}

template <class Scalar>
Array<Scalar> swapped(const Array<Scalar>& x) {
    Array<Scalar> y = x;
    if (x.rank() < 2) return y;
    const auto rows = static_cast<std::size_t>(x.dims.end()[-2]);
    const auto columns = static_cast<std::size_t>(x.dims.end()[-1]);
    std::swap(y.dims.end()[-1], y.dims.end()[-2]);
    for (std::size_t i = 0; i < x.real.size(); ++i) {
        const std::size_t cell = i % (rows * columns);
        y.real[i - cell + cell % columns * rows + cell / columns] = x.real[i];
    }
    return y;
}

constexpr auto fused_matmul = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar> a = swaps(call.node, 0) ? swapped(*call.input(0)) : *call.input(0);
    const Array<Scalar> b = swaps(call.node, 1) ? swapped(*call.input(1)) : *call.input(1);
    VIRIDIAN_TRY(auto outputs,
                 compute<Scalar>(as_standard(call.node, op::MatMul, 2), {&a, &b}, call.rounding));
    const double alpha = call.node.get("alpha", 1.0);
    for (Scalar& y : outputs[0].real) y = static_cast<Scalar>(alpha * static_cast<double>(y));
    call.outputs[0] = std::move(outputs[0]);
    return {};
};

std::int64_t summed(const Operation& operation) {
    const Dims a = operation.inputs[0].dims();
    return a.size() > 1 && swaps(operation.node, 0) ? a.end()[-2] : a.back();
}
Flop fused_matmul_flop(const Operation& operation) {
    return Flop((2 * summed(operation) + 1) * count_of(operation.outputs[0]));
}
IterationSpace fused_matmul_space(const Operation& operation) {
    return summed_over(operation, summed(operation));
}

// --- GELU with a bias over the last axis

Result<void> infer_gelu(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    if (const auto& x = inference.shape(0); x && !x->empty())
        VIRIDIAN_TRY(expect_shape(inference, 1, {x->back()}));
    return keep_type(inference);
}

template <class CallType, class Function>
Result<void> biased(CallType& call, Function f) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>* bias = call.input(1);
    if (bias != nullptr && (bias->real.empty() || x.real.size() % bias->real.size() != 0))
        return wrong_shape("the bias of node `{}` does not fit", call.node.name);
    for (std::size_t i = 0; i < x.real.size(); ++i)
        call.outputs[0].real[i] = static_cast<Scalar>(
            f(static_cast<double>(x.real[i]) +
              (bias == nullptr ? 0 : static_cast<double>(bias->real[i % bias->real.size()]))));
    return {};
}

constexpr auto gelu = [](auto& call) -> Result<void> {
    return biased(call, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); });
};
constexpr auto fast_gelu = [](auto& call) -> Result<void> {
    return biased(call, [](double x) {
        return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    });
};
constexpr auto quick_gelu = [](auto& call) -> Result<void> {
    const double alpha = call.node.get("alpha", 1.702);
    return biased(call, [alpha](double x) { return x / (1 + std::exp(-alpha * x)); });
};

// --- (Simplified)LayerNormalization of input + skip + bias

template <bool simplified>
Result<void> infer_skip(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 1));
    const Node& node = inference.node();
    if (simplified && (node.output(1) != ValueId::none || node.output(2) != ValueId::none))
        return fail(ErrorCode::unsupported, "save the model for inference", "`{}` hands out its statistics",
                    node.name);
    const auto& x = inference.shape(0);
    std::optional<Shape> moments = x;
    if (x) {
        moments->back() = Dimension(1);
        VIRIDIAN_TRY(const std::optional<Shape> sum, broadcast_shapes({x, inference.shape(1)}));
        if (sum) {
            VIRIDIAN_TRY(expect_shape(inference, 0, *sum));
        }
        for (std::size_t i = 2; i < 5; ++i) VIRIDIAN_TRY(expect_shape(inference, i, {x->back()}));
    }
    inference.set(0, inference.element(0), x);
    inference.set(1, ElementType::f32, moments);
    inference.set(2, ElementType::f32, moments);
    inference.set(3, inference.element(0), x);
    return {};
}

template <bool simplified, class CallType>
Result<void> normalize_sum(CallType& call) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    Array<Scalar> sum = *call.input(0);
    for (const std::size_t i : {std::size_t{1}, std::size_t{simplified ? 3 : 4}}) {
        const Array<Scalar>* term = call.input(i);
        if (term == nullptr) continue;
        const std::vector<std::int64_t> from = broadcast_index(term->dims, sum.dims);
        for (std::size_t j = 0; j < sum.real.size(); ++j)
            sum.real[j] += term->real[static_cast<std::size_t>(from[j])];
    }
    Node standard;
    standard.op = simplified ? op::RMSNormalization : op::LayerNormalization;
    standard.name = call.node.name;
    standard.attributes = {{"axis", std::int64_t{-1}}, {"epsilon", call.node.get("epsilon", 1e-5)}};
    const Array<Scalar>* beta = simplified ? nullptr : call.input(3);
    standard.inputs.assign(beta == nullptr ? 2 : 3, ValueId{0});
    standard.outputs.assign(simplified ? 1 : 3, ValueId{0});
    VIRIDIAN_TRY(auto outputs, compute<Scalar>(standard, {&sum, call.input(2), beta}, call.rounding));
    for (std::size_t i = 0; i < std::min(outputs.size(), call.outputs.size()); ++i)
        call.outputs[i] = std::move(outputs[i]);
    if (call.outputs.size() > 3) call.outputs[3] = std::move(sum);
    return {};
}

Flop skip_flop(const Operation& operation) { return Flop(9 * count_of(operation.outputs[0])); }
Flop gelu_flop(const Operation& operation) { return Flop(6 * count_of(operation.outputs[0])); }
IterationSpace skip_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t dimension : operation.inputs[0].dims()) space.push_back({dimension, false});
    space.back().reduced = true;
    return space;
}

constexpr OperatorClass contraction = OperatorClass::contraction;
constexpr OperatorClass elementwise = OperatorClass::elementwise;
constexpr OperatorClass normalization = OperatorClass::normalization;

// These operators have no opset of ai.onnx and stay in f32.
constexpr OperatorRow row(OperatorClass kind, std::string_view name, Arity inputs, int outputs,
                          ShapeRule infer, Reference reference, Flop (*count)(const Operation&),
                          IterationSpace (*space)(const Operation&) = nullptr) {
    return make_row(kind, name, inputs, infer, reference,
                    {.domain = "com.microsoft",
                     .outputs = {1, outputs},
                     .elements = kind == elementwise ? Elements::pointwise : Elements::computed,
                     .flop = count,
                     .iteration_space = space});
}

}  // namespace

std::span<const OperatorRow> microsoft_operators() {
    static constexpr OperatorRow rows[] = {
        row(contraction, "FusedConv", {2, 4}, 1, infer_activated<op::Conv, 3>,
            real_kernel([](auto& call) { return run_activated<op::Conv, 3>(call); }),
            activated_flop<op::Conv, 3>, standard_space<op::Conv, 3>),
        row(contraction, "FusedGemm", {2, 3}, 1, infer_activated<op::Gemm, 3>,
            real_kernel([](auto& call) { return run_activated<op::Gemm, 3>(call); }),
            activated_flop<op::Gemm, 3>, standard_space<op::Gemm, 3>),
        row(contraction, "FusedMatMul", {2, 2}, 1, infer_fused_matmul, real_kernel(fused_matmul),
            fused_matmul_flop, fused_matmul_space),
        row(elementwise, "Gelu", {1, 1}, 1, infer_gelu, real_kernel(gelu), gelu_flop),
        row(elementwise, "BiasGelu", {2, 2}, 1, infer_gelu, real_kernel(gelu), gelu_flop),
        row(elementwise, "FastGelu", {1, 2}, 1, infer_gelu, real_kernel(fast_gelu), gelu_flop),
        row(elementwise, "QuickGelu", {1, 1}, 1, infer_gelu, real_kernel(quick_gelu), gelu_flop),
        row(normalization, "SkipLayerNormalization", {3, 5}, 4, infer_skip<false>,
            real_kernel([](auto& call) { return normalize_sum<false>(call); }), skip_flop, skip_space),
        row(normalization, "SkipSimplifiedLayerNormalization", {3, 4}, 4, infer_skip<true>,
            real_kernel([](auto& call) { return normalize_sum<true>(call); }), skip_flop, skip_space),
    };
    return rows;
}

}  // namespace viridian::graph
