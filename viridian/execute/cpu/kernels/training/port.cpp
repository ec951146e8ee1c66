#include "viridian/execute/cpu/kernels/training/port.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {

Port port_of(const Task& task, graph::ValueId id, Kernel& kernel) {
    Port port;
    if (id == graph::ValueId::none) return port;
    port.absent = false;
    port.input = task.input_index(id);
    if (port.input) return port;
    port.constant = kernel.constants.size();
    kernel.constants.push_back(plain_constant(task, id));
    return port;
}

Port port_of(const Task& task, const plan::Choice& choice, graph::ValueId id, Kernel& kernel) {
    Port port = port_of(task, id, kernel);
    port.bf16 = port.input && in_bf16(choice.inputs[*port.input]);
    return port;
}

std::optional<std::size_t> output_index(const Task& task, graph::ValueId id) {
    const auto found = std::ranges::find(task.region.outputs, id);
    if (id == graph::ValueId::none || found == task.region.outputs.end()) return std::nullopt;
    return static_cast<std::size_t>(found - task.region.outputs.begin());
}

std::optional<std::size_t> output_index(const Task& task, std::size_t i) {
    return output_index(task, task.node().output(i));
}

bool is_f32_of(const Task& task, graph::ValueId id, const graph::Dims& dims) {
    if (id == graph::ValueId::none) return false;
    const graph::TensorType& type = task.type(id);
    return type.element == graph::ElementType::f32 && type.known() && type.dims() == dims;
}

bool body_consists_of(const graph::Node& node, std::initializer_list<BodyPart> parts) {
    if (node.bodies.size() != 1) return false;
    const graph::KnownOperator neutral[] = {graph::op::Cast,      graph::op::Identity, graph::op::Reshape,
                                            graph::op::Transpose, graph::op::Squeeze,  graph::op::Unsqueeze};
    std::vector<int> counts(parts.size());
    for (const graph::NodeId id : node.bodies[0]->nodes()) {
        const graph::Operator& op = node.bodies[0]->node(id).op;
        const auto is_it = [&](const graph::KnownOperator& other) { return op == other; };
        if (std::ranges::any_of(neutral, is_it)) continue;
        const auto part = std::ranges::find_if(parts, is_it, &BodyPart::op);
        if (part == parts.end()) return false;
        ++counts[static_cast<std::size_t>(part - parts.begin())];
    }
    return std::ranges::equal(counts, parts, [](int count, const BodyPart& part) {
        return count >= part.least && count <= part.most;
    });
}

}  // namespace viridian::execute::cpu
