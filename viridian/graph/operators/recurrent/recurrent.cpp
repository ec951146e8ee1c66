#include "viridian/graph/operators/recurrent/recurrent.hpp"

#include <cmath>

#include "viridian/graph/operators/shape_rules.hpp"

namespace viridian::graph {

Result<void> infer_recurrent(Inference& inference, std::int64_t gates) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 3));
    VIRIDIAN_TRY(expect_integer(inference, 4, 4));
    VIRIDIAN_TRY(expect_floating(inference, 5, 7));
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 3));
    VIRIDIAN_TRY(expect_rank(inference, 1, 3, 3));
    VIRIDIAN_TRY(expect_rank(inference, 2, 3, 3));
    const Node& node = inference.node();
    const std::string direction = node.get("direction", std::string("forward"));
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        return wrong_attribute("`direction` of node `{}` is `{}`", node.name, direction);
    const bool batch_first = node.integer("layout", 0) != 0;
    const auto& x = inference.shape(0);
    const Dimension directions(direction == "bidirectional" ? 2 : 1);
    Dimension hidden;
    if (node.has("hidden_size")) hidden = Dimension(node.integer("hidden_size", 0));
    if (const auto& r = inference.shape(2); r && !hidden.known()) hidden = (*r)[2];
    if (hidden.known() && (hidden.value() < 1 || hidden.value() > (std::int64_t{1} << 31)))
        return wrong_attribute("`hidden_size` of node `{}` is {}", node.name, hidden.value());
    const auto times = [&](std::int64_t n) {
        return hidden.known() ? Dimension(n * hidden.value()) : Dimension();
    };
    const Dimension sequence = x ? (*x)[batch_first ? 1 : 0] : Dimension();
    const Dimension batch = x ? (*x)[batch_first ? 0 : 1] : Dimension();
    const Dimension width = x ? (*x)[2] : Dimension();
    const Shape state = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
    VIRIDIAN_TRY(expect_shape(inference, 1, {directions, times(gates), width}));
    VIRIDIAN_TRY(expect_shape(inference, 2, {directions, times(gates), hidden}));
    VIRIDIAN_TRY(expect_shape(inference, 3, {directions, times(2 * gates)}));
    VIRIDIAN_TRY(expect_shape(inference, 4, {batch}));
    VIRIDIAN_TRY(expect_shape(inference, 5, state));
    VIRIDIAN_TRY(expect_shape(inference, 6, state));
    VIRIDIAN_TRY(expect_shape(inference, 7, {directions, times(3)}));
    const ElementType element = inference.element(0);
    inference.set(0, element,
                  batch_first ? Shape{batch, sequence, directions, hidden}
                              : Shape{sequence, directions, batch, hidden});
    inference.set(1, element, state);
    inference.set(2, element, state);
    return {};
}

double GateFunction::operator()(double x) const {
    if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
    if (name == "Tanh") return std::tanh(x);
    if (name == "Relu") return std::max(0.0, x);
    if (name == "Affine") return alpha * x + beta;
    if (name == "LeakyRelu") return x >= 0 ? x : alpha * x;
    if (name == "ThresholdedRelu") return x >= alpha ? x : 0;
    if (name == "ScaledTanh") return alpha * std::tanh(beta * x);
    if (name == "HardSigmoid") return std::min(1.0, std::max(0.0, alpha * x + beta));
    if (name == "Elu") return x >= 0 ? x : alpha * std::expm1(x);
    if (name == "Softsign") return x / (1 + std::abs(x));
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));  // Softplus
}

Result<std::vector<GateFunction>> gate_functions(const Node& node, std::size_t directions,
                                                 const std::vector<std::string>& otherwise) {
    struct Default {
        std::string_view name;
        int parameters;
        double alpha, beta;
    };
    constexpr Default known[] = {{"Sigmoid", 0, 0, 0},      {"Tanh", 0, 0, 0},
                                 {"Relu", 0, 0, 0},         {"Affine", 2, 1, 0},
                                 {"LeakyRelu", 1, 0.01, 0}, {"ThresholdedRelu", 1, 1, 0},
                                 {"ScaledTanh", 2, 1, 1},   {"HardSigmoid", 2, 0.2, 0.5},
                                 {"Elu", 1, 1, 0},          {"Softsign", 0, 0, 0},
                                 {"Softplus", 0, 0, 0}};
    std::vector<std::string> names = node.get("activations", std::vector<std::string>());
    if (names.empty())
        for (std::size_t i = 0; i < directions; ++i)
            names.insert(names.end(), otherwise.begin(), otherwise.end());
    if (names.size() != directions * otherwise.size())
        return wrong_attribute("`activations` of node `{}` must hold {} names", node.name,
                               directions * otherwise.size());
    const std::vector<double> alphas = node.get("activation_alpha", std::vector<double>());
    const std::vector<double> betas = node.get("activation_beta", std::vector<double>());
    std::size_t next_alpha = 0;
    std::size_t next_beta = 0;
    std::vector<GateFunction> functions;
    for (const std::string& name : names) {
        const Default* row = nullptr;
        for (const Default& entry : known)
            if (entry.name == name) row = &entry;
        if (row == nullptr)
            return wrong_attribute("node `{}` has the activation `{}`, which does not exist", node.name,
                                   name);
        GateFunction function{name, row->alpha, row->beta};
        if (row->parameters > 0 && next_alpha < alphas.size()) function.alpha = alphas[next_alpha++];
        if (row->parameters > 1 && next_beta < betas.size()) function.beta = betas[next_beta++];
        functions.push_back(function);
    }
    return functions;
}

// Both matrix products and about five operations per gate.
Flop recurrent_flop(const Operation& operation) {
    const Dims x = operation.inputs[0].dims();
    const Dims w = operation.inputs[1].dims();
    const Dims r = operation.inputs[2].dims();
    return Flop(x[0] * x[1] * w[0] * w[1] * (2 * w[2] + 2 * r[2] + 5));
}

IterationSpace recurrent_space(const Operation& operation) {
    const Dims x = operation.inputs[0].dims();
    const Dims w = operation.inputs[1].dims();
    const Dims r = operation.inputs[2].dims();
    return {{w[0], false}, {x[0], false}, {x[1], false}, {w[1], false}, {w[2] + r[2], true}};
}

}  // namespace viridian::graph
