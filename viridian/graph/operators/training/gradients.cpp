// The private operators of gradients. Each node has a body of standard operators, which says what it means:
// its types, its values and its flop are those of the body. viridian/gradient/rules/ makes the bodies.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"

namespace viridian::graph {
namespace {

// A file may give a node any body, so that its tensors may have other ranks than ours.
Dims gradient_dims(std::span<const TensorType> types, std::size_t i) {
    return i < types.size() && types[i].known() ? types[i].dims() : Dims();
}

// dX[n,c,…] sums over the filters of the group and the kernel. Inputs: g [N,M,…], W [M,C/group,kernel…].
IterationSpace grad_input_space(const Operation& operation) {
    Dims sums = gradient_dims(operation.inputs, 1);
    const std::int64_t group = operation.node.integer("group", 1);
    if (sums.size() < 2 || group < 1) return summed_over(operation, Dims());
    sums[0] /= group;
    sums.erase(sums.begin() + 1);
    return summed_over(operation, sums);
}

// dW[m,c,k…] sums over the images and their windows. Inputs: X [N,C,…], g [N,M,…].
IterationSpace grad_weight_space(const Operation& operation) {
    Dims sums = gradient_dims(operation.inputs, 1);
    if (sums.size() < 2) return summed_over(operation, Dims());
    sums.erase(sums.begin() + 1);
    return summed_over(operation, sums);
}

// The products of attention's gradient run over queries, keys and one of two sizes. Inputs: q [heads…,
// queries, size], k [heads…, size, keys], …
IterationSpace attention_grad_space(const Operation& operation) {
    const Dims keys = gradient_dims(operation.inputs, 1);
    return summed_over(operation, keys.empty() ? Dims() : Dims{keys.back()});
}

IterationSpace average_pool_grad_space(const Operation& operation) {
    return summed_over(operation, operation.node.get("kernel_shape", Dims()));
}

// Every element of g is added to one element of the result.
IterationSpace max_pool_grad_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t extent : gradient_dims(operation.inputs, 0)) space.push_back({extent, false});
    return space;
}

// The loops over the first input, of which those for which `reduced(axis)` holds are summed.
template <class Reduced>
IterationSpace loops_over_g(const Operation& operation, Reduced reduced) {
    IterationSpace space;
    for (const std::int64_t extent : gradient_dims(operation.inputs, 0))
        space.push_back({extent, reduced(static_cast<std::int64_t>(space.size()))});
    return space;
}

std::int64_t axis_of_g(const Operation& operation) {
    const std::int64_t axis = operation.node.integer("axis", -1);
    return axis < 0 ? axis + static_cast<std::int64_t>(gradient_dims(operation.inputs, 0).size()) : axis;
}

IterationSpace along_axis(const Operation& operation) {
    return loops_over_g(operation, [at = axis_of_g(operation)](std::int64_t axis) { return axis == at; });
}
IterationSpace within_rows(const Operation& operation) {
    return loops_over_g(operation, [at = axis_of_g(operation)](std::int64_t axis) { return axis >= at; });
}
IterationSpace across_rows(const Operation& operation) {
    return loops_over_g(operation, [at = axis_of_g(operation)](std::int64_t axis) { return axis < at; });
}
IterationSpace within_channels(const Operation& operation) {
    return loops_over_g(operation, [](std::int64_t axis) { return axis != 1; });
}
IterationSpace within_images(const Operation& operation) {
    return loops_over_g(operation, [](std::int64_t axis) { return axis != 0; });
}
IterationSpace across_channels(const Operation& operation) {
    IterationSpace space = loops_over_g(operation, [](std::int64_t) { return false; });
    space.push_back({operation.node.integer("size", 1), true});
    return space;
}

constexpr OperatorFacts gradient_facts(const Precision& precision, IterationSpace (*space)(const Operation&),
                                       Arity outputs = {1, 1}) {
    return {.domain = "viridian", .outputs = outputs, .precision = precision, .iteration_space = space};
}

constexpr OperatorRow gradient_of_contraction(std::string_view name,
                                              IterationSpace (*space)(const Operation&)) {
    return contraction_row(name, {2, 2}, nullptr, {}, gradient_facts(precision::f32_sums, space));
}

constexpr OperatorRow gradient_of_normalization(std::string_view name, int inputs, Arity outputs,
                                                IterationSpace (*space)(const Operation&)) {
    return normalization_row(name, {inputs, inputs}, nullptr, {},
                             gradient_facts(precision::f32_statistics, space, outputs));
}

constexpr Precision adds_windows = {NumericSafety::infer, "sums the windows of a pool in f32"};

}  // namespace

std::span<const OperatorRow> training_gradient_operators() {
    static constexpr OperatorRow rows[] = {
        gradient_of_contraction("ConvGradInput", grad_input_space),
        gradient_of_contraction("ConvGradWeight", grad_weight_space),
        contraction_row("AttentionGrad", {4, 8}, nullptr, {},
                        gradient_facts(precision::f32_statistics, attention_grad_space, {3, 3})),
        normalization_row("AveragePoolGrad", {1, 1}, nullptr, {},
                          gradient_facts(adds_windows, average_pool_grad_space)),
        normalization_row("MaxPoolGrad", {2, 2}, nullptr, {},
                          gradient_facts(adds_windows, max_pool_grad_space)),
        gradient_of_normalization("SoftmaxGrad", 2, {1, 1}, along_axis),
        gradient_of_normalization("LogSoftmaxGrad", 2, {1, 1}, along_axis),
        gradient_of_normalization("LayerNormalizationGradInput", 5, {1, 1}, within_rows),
        gradient_of_normalization("LayerNormalizationGradScale", 4, {1, 2}, across_rows),
        gradient_of_normalization("RMSNormalizationGrad", 3, {1, 2}, within_rows),
        gradient_of_normalization("GroupNormalizationGrad", 3, {1, 3}, within_images),
        gradient_of_normalization("BatchNormalizationTraining", 5, {1, 5}, within_channels),
        gradient_of_normalization("BatchNormalizationGrad", 5, {1, 3}, within_channels),
        gradient_of_normalization("LRNGrad", 2, {1, 1}, across_channels),
    };
    return rows;
}

}  // namespace viridian::graph
