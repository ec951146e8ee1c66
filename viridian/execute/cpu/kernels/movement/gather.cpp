// Gather: rows of a table by index, any element type.
#include <cstring>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::ValueId;

constexpr std::string_view gather_family_name = "gather";

struct Gather {
    std::int64_t outer = 1, rows = 1, bytes = 1, picked = 1;  // [outer, rows, bytes] → [outer, picked, bytes]
};

std::optional<Gather> gather_of(const Task& task) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::Gather) return std::nullopt;
    const ElementType index = task.type(node.inputs[1]).element;
    if (index != ElementType::i64 && index != ElementType::i32) return std::nullopt;
    if (node.inputs[0] == node.inputs[1]) return std::nullopt;
    const Dims data = task.dims(node.inputs[0]);
    const auto axis = graph::normalize_axis(node.integer("axis", 0), static_cast<std::int64_t>(data.size()));
    if (!axis.ok()) return std::nullopt;
    Gather gather;
    gather.bytes = graph::size_of(task.type(node.inputs[0]).element);
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(data.size()); ++d) {
        const std::int64_t extent = data[static_cast<std::size_t>(d)];
        if (d < *axis) gather.outer *= extent;
        if (d == *axis) gather.rows = extent;
        if (d > *axis) gather.bytes *= extent;
    }
    for (const std::int64_t extent : task.dims(node.inputs[1])) gather.picked *= extent;
    return gather;
}

std::vector<plan::Choice> offers_gather(const Task& task) {
    if (!gather_of(task)) return {};
    return {task.plain_choice(std::string(gather_family_name))};
}

Result<Kernel> prepare_gather(const Task& task, const plan::Choice& choice) {
    const auto gather = gather_of(task);
    if (!gather) return unknown_kernel(choice);
    const graph::Node& node = task.node();
    Kernel kernel;
    const auto input = [&](ValueId id) { return task.input_index(id); };
    const auto data = input(node.inputs[0]);
    if (!data) kernel.constants.push_back(plain_constant(task, node.inputs[0]));
    const auto indices = input(node.inputs[1]);
    // Constant indices are kept apart from the constants, whose values do not matter when a kernel is timed.
    const Packed fixed = indices ? nullptr : plain_constant(task, node.inputs[1]);
    const bool wide = task.type(node.inputs[1]).element == ElementType::i64;
    kernel.run = [=, g = *gather, name = node.name](const Pointers& pointers) {
        const std::byte* from = data ? pointers.inputs[*data] : pointers.constants[0];
        const std::byte* picks = indices ? pointers.inputs[*indices] : fixed->data();
        std::byte* to = pointers.outputs[0];
        for (std::int64_t o = 0; o < g.outer; ++o)
            for (std::int64_t i = 0; i < g.picked; ++i) {
                std::int64_t row = wide ? reinterpret_cast<const std::int64_t*>(picks)[i]
                                        : reinterpret_cast<const std::int32_t*>(picks)[i];
                if (row < 0) row += g.rows;
                if (row < 0 || row >= g.rows)
                    throw KernelFailure{fail(ErrorCode::invalid_argument, "give indices inside the table",
                                             "`{}` reads row {} of {}", name, row, g.rows)};
                if (g.bytes == 0) continue;  // there may be no table then
                std::memcpy(to, from + (o * g.rows + row) * g.bytes, static_cast<std::size_t>(g.bytes));
                to += g.bytes;
            }
    };
    return kernel;
}

}  // namespace

Family gather_family() { return {gather_family_name, offers_gather, prepare_gather}; }

}  // namespace viridian::execute::cpu
