#include "viridian/execute/cpu/kernels/window/pooling.hpp"

#include <algorithm>

#include "viridian/graph/reference/windows.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;

// ReduceMean over exactly the spatial axes, which stay as ones.
bool spatial_mean(const Task& task, const graph::Node& node, const Dims& source) {
    if (node.op != graph::op::ReduceMean || node.integer("keepdims", 1) != 1 || source.size() < 3)
        return false;
    const graph::Tensor* axes = task.graph.constant(node.input(1));
    if (axes == nullptr || axes->count() != static_cast<std::int64_t>(source.size()) - 2) return false;
    std::vector<std::int64_t> wanted = axes->integers();
    for (auto& axis : wanted) axis += axis < 0 ? static_cast<std::int64_t>(source.size()) : 0;
    std::ranges::sort(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] != static_cast<std::int64_t>(i) + 2) return false;
    return true;
}

}  // namespace

std::optional<PoolingShape> pooling_shape(const Task& task) {
    const graph::Node& node = task.node();
    if (!node.op.domain().empty() || task.region.inputs.size() != 1 || task.region.inputs[0] != node.input(0))
        return std::nullopt;
    if (node.outputs.empty() || (node.outputs.size() > 1 && node.outputs[1] != ValueId::none))
        return std::nullopt;
    for (const ValueId id : {node.inputs[0], node.outputs[0]})
        if (task.type(id).element != graph::ElementType::f32 || !task.type(id).known()) return std::nullopt;
    PoolingShape shape;
    shape.source = task.dims(node.inputs[0]);
    shape.result = task.dims(node.outputs[0]);
    if (shape.source.size() < 3 || std::ranges::count(shape.source, 0) > 0 ||
        std::ranges::count(shape.result, 0) > 0)
        return std::nullopt;
    const std::size_t spatial = shape.source.size() - 2;
    if ((node.op == graph::op::GlobalAveragePool || node.op == graph::op::GlobalMaxPool ||
         node.op == graph::op::GlobalLpPool) ||
        spatial_mean(task, node, shape.source)) {
        if (node.op == graph::op::GlobalLpPool) return std::nullopt;
        shape.maximum = node.op == graph::op::GlobalMaxPool;
        shape.kernel = Dims(shape.source.begin() + 2, shape.source.end());
        shape.strides = shape.dilations = Dims(spatial, 1);
        shape.pads_begin = shape.pads_end = Dims(spatial, 0);
        return shape;
    }
    if (node.op != graph::op::MaxPool && node.op != graph::op::AveragePool) return std::nullopt;
    shape.maximum = node.op == graph::op::MaxPool;
    shape.count_padding = node.integer("count_include_pad", 0) != 0;
    shape.kernel = node.get("kernel_shape", std::vector<std::int64_t>());
    const auto windows = graph::Windows::of(node, graph::shape_of(shape.kernel));
    if (!windows.ok()) return std::nullopt;
    shape.strides = windows->strides;
    shape.dilations = windows->dilations;
    for (std::size_t axis = 0; axis < spatial; ++axis) {
        const std::int64_t in = shape.source[axis + 2];
        const std::int64_t out = shape.result[axis + 2];
        const std::int64_t begin = windows->begin(axis, in, out);
        const std::int64_t extent = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1;
        const std::int64_t end = (out - 1) * shape.strides[axis] + extent - in - begin;
        shape.pads_begin.push_back(begin);
        shape.pads_end.push_back(end);
        // Windows that hang over the declared padding (ceil_mode) count only what lies inside it.
        if (shape.count_padding && !shape.maximum && end > windows->pads_end[axis] &&
            !windows->auto_pad.starts_with("SAME"))
            return std::nullopt;
        // A window of padding alone has no maximum and no mean.
        if (begin >= extent || end >= extent) return std::nullopt;
    }
    return shape;
}

}  // namespace viridian::execute::cpu
