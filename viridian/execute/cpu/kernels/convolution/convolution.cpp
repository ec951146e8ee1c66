#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"

#include "viridian/graph/reference/windows.hpp"

namespace viridian::execute::cpu {

using graph::Dims;
using graph::ValueId;

std::optional<ConvolutionShape> convolution_shape(const Task& task) {
    const graph::Node& node = task.node();
    if (node.op != graph::op::Conv || !task.all_f32()) return std::nullopt;
    if (!task.input_index(node.input(0)) || task.graph.constant(node.input(1)) == nullptr)
        return std::nullopt;
    if (node.input(2) != ValueId::none && task.graph.constant(node.input(2)) == nullptr) return std::nullopt;
    if (!task.type(node.inputs[0]).known() || !task.type(node.outputs[0]).known()) return std::nullopt;
    if (task.type(node.inputs[0]).element != graph::ElementType::f32) return std::nullopt;
    ConvolutionShape shape;
    shape.source = task.dims(node.inputs[0]);
    shape.weights = task.dims(node.inputs[1]);
    shape.result = task.dims(node.outputs[0]);
    shape.groups = node.integer("group", 1);
    shape.bias = node.input(2) != ValueId::none;
    const Dims kernel(shape.weights.begin() + 2, shape.weights.end());
    const auto windows = graph::Windows::of(node, graph::shape_of(kernel));
    if (!windows.ok()) return std::nullopt;
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
    for (const std::int64_t dimension : shape.source)
        if (dimension == 0) return std::nullopt;
    for (const std::int64_t dimension : shape.result)
        if (dimension == 0) return std::nullopt;
    return shape;
}

}  // namespace viridian::execute::cpu
