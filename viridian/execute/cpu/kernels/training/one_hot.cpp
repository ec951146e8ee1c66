// OneHot of f32 with a constant depth, as the gradients of losses have it.
#include <algorithm>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;

constexpr std::string_view one_hot_family_name = "onehot";

struct OneHot {
    std::int64_t outer = 1, depth = 1, inner = 1;  // indices are [outer, inner]
    bool wide = true;                              // they are i64, or else i32
};

std::optional<OneHot> one_hot(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::OneHot || node.inputs.size() != 3 ||
        !task.input_index(node.inputs[0]) || task.graph.constant(node.inputs[1]) == nullptr ||
        !is_f32_of(task, node.inputs[2], {2}))
        return std::nullopt;
    const ElementType element = task.type(node.inputs[0]).element;
    if ((element != ElementType::i64 && element != ElementType::i32) || !task.type(node.inputs[0]).known() ||
        !task.type(node.outputs[0]).known())
        return std::nullopt;
    const Dims dims = task.dims(node.outputs[0]);
    const auto axis = graph::normalize_axis(node.integer("axis", -1), static_cast<std::int64_t>(dims.size()));
    if (!axis.ok()) return std::nullopt;
    OneHot made{.wide = element == ElementType::i64};
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const auto at = static_cast<std::int64_t>(d);
        (at < *axis ? made.outer : at == *axis ? made.depth : made.inner) *= dims[d];
    }
    return made;
}

std::vector<plan::Choice> offers_one_hot(const Task& task) {
    if (!one_hot(task)) return {};
    return {task.plain_choice(std::string(one_hot_family_name))};
}

Result<Kernel> prepare_one_hot(const Task& task, const plan::Choice& choice) {
    const auto work = one_hot(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    const Port values = port_of(task, task.node().inputs[2], kernel);
    const std::size_t indices = *task.input_index(task.node().inputs[0]);
    kernel.run = [=, w = *work, threads = task.context.threads](const Pointers& pointers) {
        const std::byte* const given = pointers.inputs[indices];
        const float off = values.at(pointers)[0], on = values.at(pointers)[1];
        auto* const to = reinterpret_cast<float*>(pointers.outputs[0]);
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            std::fill(to + first * w.depth * w.inner, to + last * w.depth * w.inner, off);
            for (std::int64_t o = first; o < last; ++o)
                for (std::int64_t i = 0; i < w.inner; ++i) {
                    const std::int64_t at = o * w.inner + i;
                    std::int64_t hot = w.wide ? reinterpret_cast<const std::int64_t*>(given)[at]
                                              : reinterpret_cast<const std::int32_t*>(given)[at];
                    if (hot < 0) hot += w.depth;
                    if (hot >= 0 && hot < w.depth) to[(o * w.depth + hot) * w.inner + i] = on;
                }
        };
        if (w.outer * w.depth * w.inner < 16384) return work_on(0, w.outer);
        in_shares(threads, w.outer, work_on);
    };
    return kernel;
}

}  // namespace

Family one_hot_family() { return {one_hot_family_name, offers_one_hot, prepare_one_hot}; }

}  // namespace viridian::execute::cpu
