#include "viridian/zoo/convolutional.hpp"

#include <cmath>

#include "viridian/graph/infer.hpp"
#include "viridian/zoo/dropout.hpp"

namespace viridian::zoo {

using graph::Dims;
using graph::Tensor;

namespace {

// Statistics and affine parameters of a batch normalisation, near those of a trained network: the running
// mean and variance are about what the weights give.
struct Normalization {
    Tensor scale, bias, mean, variance;

    Normalization(const Weights& weights, const std::string& name, std::int64_t channels, double factor)
        : scale(weights.uniform(name + ".weight", {channels}, factor, 0.1 * factor)),
          bias(weights.uniform(name + ".bias", {channels}, 0, 0.1)),
          mean(weights.uniform(name + ".running_mean", {channels}, 0, 0.1)),
          variance(weights.uniform(name + ".running_var", {channels}, 1, 0.1)) {}
};

const double he = std::sqrt(2.0);  // keeps the second moment after a rectifier

Dims twice(const Dims& pads) {
    Dims both = pads;
    both.insert(both.end(), pads.begin(), pads.end());
    return both;
}

graph::Attributes attributes_of(const ConvolutionShape& shape) {
    return {{"kernel_shape", shape.kernel},
            {"strides", shape.strides},
            {"pads", twice(shape.pads)},
            {"dilations", Dims(shape.kernel.size(), 1)},
            {"group", shape.group}};
}

}  // namespace

Convolutional::Convolutional(std::string_view name, const Options& options)
    : options_(options), weights_(options.seed) {
    graph_.name = name;
}

Features Convolutional::image(std::int64_t channels, std::int64_t size) {
    const Dims dims = {options_.batch, channels, size, size};
    return {graph_.add_input("input", {graph::ElementType::f32, graph::shape_of(dims)}), channels};
}

graph::ValueId Convolutional::constant(const std::string& name, Tensor tensor) {
    return graph_.add_constant(name, std::move(tensor));
}

Tensor Convolutional::kernel(Features x, const std::string& name, std::int64_t filters,
                             const ConvolutionShape& shape) const {
    const std::int64_t channels = x.channels / shape.group;
    const Dims dims = {filters, channels, shape.kernel[0], shape.kernel[1]};
    if (shape.rectified && channels > 1)
        return weights_.balanced(name + ".weight", dims, 1 / std::sqrt(rectified_variance));
    return weights_.scaled(name + ".weight", dims, channels * shape.kernel[0] * shape.kernel[1],
                           shape.rectified ? he : 1);
}

Features Convolutional::unbiased(Features x, const std::string& name, std::int64_t filters,
                                 const ConvolutionShape& shape) {
    const graph::ValueId weight = constant(name + ".weight", kernel(x, name, filters, shape));
    return {graph_.add(graph::op::Conv, {x.value, weight}, attributes_of(shape), name), filters};
}

Features Convolutional::convolution(Features x, const std::string& name, std::int64_t filters,
                                    const ConvolutionShape& shape) {
    const graph::ValueId weight = constant(name + ".weight", kernel(x, name, filters, shape));
    const graph::ValueId bias =
        constant(name + ".bias", weights_.uniform(name + ".bias", {filters}, 0, 0.05));
    return {graph_.add(graph::op::Conv, {x.value, weight, bias}, attributes_of(shape), name), filters};
}

Features Convolutional::normalized(Features x, const std::string& convolution,
                                   const std::string& normalization, std::int64_t filters,
                                   const ConvolutionShape& shape, double epsilon, double scale) {
    if (options_.keep_batch_norm || options_.training) {
        return batch_normalization(unbiased(x, convolution, filters, shape), normalization, epsilon, scale);
    }
    Tensor weight = kernel(x, convolution, filters, shape);
    const std::int64_t fan_in = weight.count() / filters;
    const Normalization n(weights_, normalization, filters, scale);
    Tensor bias(graph::ElementType::f32, {filters});
    auto entries = weight.mutable_values<float>();
    for (std::int64_t m = 0; m < filters; ++m) {
        const double factor = n.scale.number(m) / std::sqrt(n.variance.number(m) + epsilon);
        for (float& entry :
             entries.subspan(static_cast<std::size_t>(m * fan_in), static_cast<std::size_t>(fan_in)))
            entry = static_cast<float>(entry * factor);
        bias.mutable_values<float>()[static_cast<std::size_t>(m)] =
            static_cast<float>(n.bias.number(m) - n.mean.number(m) * factor);
    }
    const graph::ValueId folded = constant(convolution + ".weight", std::move(weight));
    const graph::ValueId offset = constant(convolution + ".bias", std::move(bias));
    return {graph_.add(graph::op::Conv, {x.value, folded, offset}, attributes_of(shape), convolution),
            filters};
}

Features Convolutional::transposed(Features x, const std::string& name, std::int64_t filters,
                                   const ConvolutionShape& shape) {
    // Of the kernel, only every stride-th cell meets a given output cell; from a single cell, one does.
    const bool spread = shape.strides[0] > 1;
    const std::int64_t met =
        spread ? shape.kernel[0] / shape.strides[0] * shape.kernel[1] / shape.strides[1] : 1;
    const std::int64_t fan_in = x.channels * met;
    const graph::ValueId weight =
        constant(name + ".weight",
                 weights_.scaled(name + ".weight", {x.channels, filters, shape.kernel[0], shape.kernel[1]},
                                 fan_in, shape.rectified ? he : 1));
    return {graph_.add(graph::op::ConvTranspose, {x.value, weight}, attributes_of(shape), name), filters};
}

Features Convolutional::batch_normalization(Features x, const std::string& name, double epsilon,
                                            double scale) {
    const Normalization n(weights_, name, x.channels, scale);
    const graph::ValueId gamma = constant(name + ".weight", n.scale);
    const graph::ValueId beta = constant(name + ".bias", n.bias);
    const graph::ValueId mean = constant(name + ".running_mean", n.mean);
    const graph::ValueId variance = constant(name + ".running_var", n.variance);
    graph::Node node;
    node.op = graph::op::BatchNormalization;
    node.name = name;
    node.inputs = {x.value, gamma, beta, mean, variance};
    node.attributes = {{"epsilon", epsilon}};
    std::vector<std::string> outputs = {name};
    if (options_.training) {
        node.attributes["training_mode"] = std::int64_t{1};
        node.attributes["momentum"] = 0.9;  // of the old statistics
        outputs.insert(outputs.end(), {name + ".new_running_mean", name + ".new_running_var"});
    }
    return {graph_.node(graph_.add_node(std::move(node), outputs)).outputs[0], x.channels};
}

Features Convolutional::dropout(Features x, const std::string& name, double published) {
    return {add_dropout(graph_, options_, x.value, name, published), x.channels};
}

Features Convolutional::relu(Features x, const std::string& name) { return operation("Relu", x, name); }

Features Convolutional::operation(const char* op, Features x, const std::string& name,
                                  graph::Attributes attributes) {
    return {graph_.add(op, {x.value}, std::move(attributes), name), x.channels};
}

Features Convolutional::pool(const char* op, Features x, const std::string& name, const PoolShape& shape) {
    graph::Attributes attributes = {
        {"kernel_shape", shape.kernel}, {"strides", shape.strides}, {"pads", twice(shape.pads)}};
    if (shape.ceil) attributes["ceil_mode"] = std::int64_t{1};
    if (shape.count_pads) attributes["count_include_pad"] = std::int64_t{1};
    return operation(op, x, name, std::move(attributes));
}

Features Convolutional::global_average(Features x, const std::string& name) {
    return operation("GlobalAveragePool", x, name);
}

Features Convolutional::concat(const std::vector<Features>& parts, const std::string& name) {
    std::vector<graph::ValueId> values;
    std::int64_t channels = 0;
    for (const Features& part : parts) {
        values.push_back(part.value);
        channels += part.channels;
    }
    return {graph_.add(graph::op::Concat, values, {{"axis", std::int64_t{1}}}, name), channels};
}

Features Convolutional::add(Features a, Features b, const std::string& name) {
    return {graph_.add(graph::op::Add, {a.value, b.value}, {}, name), a.channels};
}

Features Convolutional::flatten(Features x, const std::string& name, std::int64_t channels) {
    return {operation("Flatten", x, name, {{"axis", std::int64_t{1}}}).value, channels};
}

Features Convolutional::linear(Features x, const std::string& name, std::int64_t outputs, bool rectified) {
    const graph::ValueId weight =
        constant(name + ".weight", weights_.balanced(name + ".weight", {outputs, x.channels},
                                                     rectified ? 1 / std::sqrt(rectified_variance) : 1));
    const graph::ValueId bias =
        constant(name + ".bias", weights_.uniform(name + ".bias", {outputs}, 0, 0.05));
    return {graph_.add(graph::op::Gemm, {x.value, weight, bias}, {{"transB", std::int64_t{1}}}, name),
            outputs};
}

Result<graph::Graph> Convolutional::finish(Features output) && {
    graph_.set_name(output.value, "output");
    graph_.set_outputs({output.value});
    VIRIDIAN_TRY(infer_types(graph_));
    return std::move(graph_);
}

}  // namespace viridian::zoo
