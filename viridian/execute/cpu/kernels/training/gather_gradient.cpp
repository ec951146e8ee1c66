// GatherGrad along the first axis: rows of gradients are added to rows of a table of zeros. Threads share the
// columns, so that every sum is made in the order of the indices.
#include <algorithm>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;

constexpr std::string_view gather_gradient_family_name = "simd:gathergrad";
constexpr std::int64_t least_columns = 64;  // of one thread: whole lines of the cache

struct GatherGradient {
    std::int64_t rows = 1, columns = 1, picked = 1;  // of the table, and rows of g
    bool wide = true;
    std::string node;
};

std::optional<GatherGradient> gather_gradient(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::GatherGrad || node.inputs.size() != 2 ||
        node.inputs != task.region.inputs || node.integer("axis", 0) != 0)
        return std::nullopt;
    if (!body_consists_of(node, {{graph::op::Expand, 0, 1}, {graph::op::ScatterND, 1, 1}}))
        return std::nullopt;
    const ElementType index = task.type(node.inputs[1]).element;
    if (!task.type(node.outputs[0]).known() || !task.type(node.inputs[0]).known() ||
        !task.type(node.inputs[1]).known() || (index != ElementType::i64 && index != ElementType::i32))
        return std::nullopt;
    const Dims table = task.dims(node.outputs[0]), g = task.dims(node.inputs[0]),
               picks = task.dims(node.inputs[1]);
    Dims expected = picks;
    if (!table.empty()) expected.insert(expected.end(), table.begin() + 1, table.end());
    if (table.empty() || g != expected || !is_f32_of(task, node.inputs[0], g) ||
        !is_f32_of(task, node.outputs[0], table))
        return std::nullopt;
    GatherGradient made{.rows = table[0], .wide = index == ElementType::i64, .node = node.name};
    for (std::size_t axis = 1; axis < table.size(); ++axis) made.columns *= table[axis];
    for (const std::int64_t extent : picks) made.picked *= extent;
    return made;
}

std::vector<plan::Choice> offers_gather_gradient(const Task& task) {
    if (!gather_gradient(task)) return {};
    return {task.plain_choice(std::string(gather_gradient_family_name))};
}

// Row `i` of g belongs to this row of the table. Throws KernelFailure.
std::int64_t picked_row(const GatherGradient& w, const std::byte* picks, std::int64_t i) {
    std::int64_t row = w.wide ? reinterpret_cast<const std::int64_t*>(picks)[i]
                              : reinterpret_cast<const std::int32_t*>(picks)[i];
    if (row < 0) row += w.rows;
    if (row < 0 || row >= w.rows)
        throw KernelFailure{fail(ErrorCode::invalid_argument, "give indices inside the table",
                                 "`{}` adds to row {} of {}", w.node, row, w.rows)};
    return row;
}

Result<Kernel> prepare_gather_gradient(const Task& task, const plan::Choice& choice) {
    const auto work = gather_gradient(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    kernel.run = [w = *work, threads = task.context.threads](const Pointers& pointers) {
        const auto* const g = reinterpret_cast<const float*>(pointers.inputs[0]);
        const std::byte* const picks = pointers.inputs[1];
        auto* const table = reinterpret_cast<float*>(pointers.outputs[0]);
        for (std::int64_t i = 0; i < w.picked; ++i) picked_row(w, picks, i);  // before threads share the work
        const auto clear = [&](std::int64_t first, std::int64_t last) {
            std::fill(table + first, table + last, 0.0F);
        };
        const auto add = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = 0; i < w.picked; ++i) {
                float* const to = table + picked_row(w, picks, i) * w.columns;
                const float* const from = g + i * w.columns;
                for (std::int64_t c = first; c < last; ++c) to[c] += from[c];
            }
        };
        const std::int64_t groups = (w.columns + least_columns - 1) / least_columns;
        const auto add_groups = [&](std::int64_t first, std::int64_t last) {
            add(first * least_columns, std::min(w.columns, last * least_columns));
        };
        if (w.rows * w.columns < 16384) {
            clear(0, w.rows * w.columns);
            return add(0, w.columns);
        }
        in_shares(threads, w.rows * w.columns, clear);
        in_shares(threads, groups, add_groups);
    };
    return kernel;
}

}  // namespace

Family gather_gradient_family() {
    return {gather_gradient_family_name, offers_gather_gradient, prepare_gather_gradient};
}

}  // namespace viridian::execute::cpu
