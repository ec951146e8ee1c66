#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::execute::cpu {

using graph::Dims;
using graph::ValueId;

namespace {

// Reads the attributes, which the convolution and its gradients share. Sizes are set before.
bool read_windows(const graph::Node& node, ConvolutionShape& shape) {
    for (const Dims* dims : {&shape.source, &shape.weights, &shape.result})
        if (dims->size() < 3 || dims->size() != shape.source.size() || std::ranges::count(*dims, 0) > 0)
            return false;
    shape.groups = node.integer("group", 1);
    const Dims kernel(shape.weights.begin() + 2, shape.weights.end());
    const auto windows = graph::Windows::of(node, graph::shape_of(kernel));
    if (!windows.ok()) return false;
    shape.strides = windows->strides;
    shape.dilations = windows->dilations;
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        const std::int64_t in = shape.source[axis + 2];
        const std::int64_t out = shape.result[axis + 2];
        const std::int64_t begin = windows->begin(axis, in, out);
        const std::int64_t reach =
            (out - 1) * shape.strides[axis] + (kernel[axis] - 1) * shape.dilations[axis] + 1;
        shape.pads_begin.push_back(begin);
        shape.pads_end.push_back(reach - in - begin);
    }
    return true;
}

}  // namespace

std::optional<ConvolutionShape> any_convolution_shape(const Task& task) {
    const graph::Node& node = task.node();
    if (node.op != graph::op::Conv || !task.all_f32()) return std::nullopt;
    const ValueId source = node.input(0), weights = node.input(1), bias = node.input(2);
    if (!task.input_index(source) || source == weights || source == bias) return std::nullopt;
    ConvolutionShape shape;
    shape.bias = bias != ValueId::none;
    shape.constant_weights = task.graph.constant(weights) != nullptr;
    shape.constant_bias = !shape.bias || task.graph.constant(bias) != nullptr;
    if (!shape.constant_weights && (!task.input_index(weights) || weights == bias)) return std::nullopt;
    if (!shape.constant_bias && !task.input_index(bias)) return std::nullopt;
    if (!task.type(source).known() || !task.type(node.outputs[0]).known()) return std::nullopt;
    for (const ValueId id : {source, weights})
        if (task.type(id).element != graph::ElementType::f32) return std::nullopt;
    shape.source = task.dims(source);
    shape.weights = task.dims(weights);
    shape.result = task.dims(node.outputs[0]);
    if (!read_windows(node, shape)) return std::nullopt;
    return shape;
}

std::optional<ConvolutionShape> convolution_shape(const Task& task) {
    auto shape = any_convolution_shape(task);
    if (!shape || !shape->constant_weights || !shape->constant_bias) return std::nullopt;
    return shape;
}

std::optional<ConvolutionShape> convolution_gradient_shape(const Task& task) {
    const graph::Node& node = task.node();
    const bool of_input = node.op == graph::op::ConvGradInput;
    if ((!of_input && node.op != graph::op::ConvGradWeight) || task.region.nodes.size() != 1 ||
        task.region.inputs.size() != 2 || node.inputs != task.region.inputs)
        return std::nullopt;
    if (!(of_input ? body_consists_of(node, {{graph::op::ConvTranspose, 1, 1}})
                   : body_consists_of(node, {{graph::op::Conv, 1, 1}, {graph::op::Slice, 0, 3}})))
        return std::nullopt;
    for (const ValueId id : {node.inputs[0], node.inputs[1], node.outputs[0]})
        if (task.type(id).element != graph::ElementType::f32 || !task.type(id).known()) return std::nullopt;
    ConvolutionShape shape;
    shape.source = task.dims(of_input ? node.outputs[0] : node.inputs[0]);
    shape.weights = task.dims(of_input ? node.inputs[1] : node.outputs[0]);
    shape.result = task.dims(of_input ? node.inputs[0] : node.inputs[1]);
    if (!read_windows(node, shape)) return std::nullopt;
    const std::int64_t groups = shape.groups;
    if (groups < 1 || shape.source[0] != shape.result[0] || shape.source[1] != shape.weights[1] * groups ||
        shape.result[1] != shape.weights[0] || shape.weights[0] % groups != 0)
        return std::nullopt;
    return shape;
}

}  // namespace viridian::execute::cpu
