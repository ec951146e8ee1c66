// Resize of f32 with constant scales or sizes: the filters are separable, so one axis after the other. Along
// an axis every output row is a weighted sum of a few input rows; a row is what lies inside that axis in
// memory.
#include <algorithm>

#include "viridian/execute/cpu/families.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/graph/operators/interpolation.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::Tensor;
using graph::ValueId;
using plan::Layout;

constexpr std::string_view family = "simd:resize";

std::optional<std::vector<graph::ResizedAxis>> resized(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.domain.empty() || node.op != "Resize" ||
        task.region.inputs.size() != 1 || node.input(0) != task.region.inputs[0] || !task.all_f32())
        return std::nullopt;
    for (const ValueId id : {node.inputs[0], node.outputs[0]})
        if (std::ranges::count(task.dims(id), 0) > 0) return std::nullopt;
    std::array<const Tensor*, 4> given = {};
    for (std::size_t i = 1; i < 4; ++i) {
        if (node.input(i) == ValueId::none) continue;
        given[i] = task.graph.constant(node.inputs[i]);
        if (given[i] == nullptr) return std::nullopt;
    }
    const bool crops = node.get("coordinate_transformation_mode", std::string()) == "tf_crop_and_resize";
    auto axes = graph::how_resized(node, task.dims(node.inputs[0]), given[1], given[2], given[3]);
    if (crops || !axes.ok()) return std::nullopt;
    std::erase_if(*axes, [](const auto& a) { return a.how.resized == a.how.length && a.how.scale == 1; });
    // The axis that shrinks most (grows least) first: fewer elements for the others.
    std::ranges::stable_sort(*axes, {}, [](const auto& a) { return a.how.scale; });
    return *std::move(axes);
}

// Layouts that do not split a resized axis.
bool fits(const Layout& layout, const std::vector<graph::ResizedAxis>& axes, const Dims& dims) {
    for (const auto& block : layout.blocks) {
        if (dims[block.dimension] % block.size != 0) return false;
        for (const auto& axis : axes)
            if (static_cast<std::size_t>(axis.axis) == block.dimension) return false;
    }
    return true;
}

std::vector<plan::Choice> offers(const Task& task) {
    const auto axes = resized(task);
    if (!axes) return {};
    const Dims dims = task.dims(task.node().inputs[0]);
    std::vector<Layout> layouts = {plan::plain(dims.size())};
    if (dims.size() > 2)
        layouts.insert(layouts.end(),
                       {plan::channels_last(dims.size()), plan::channels_blocked(dims.size(), 16),
                        plan::channels_blocked(dims.size(), 8)});
    std::vector<plan::Choice> choices;
    for (const Layout& layout : layouts) {
        if (!fits(layout, *axes, dims)) continue;
        plan::Choice choice = task.plain_choice(std::string(family));
        choice.inputs[0].layout = choice.outputs[0].layout = layout;
        choices.push_back(std::move(choice));
    }
    return choices;
}

// [outer, from, inner] → [outer, to, inner].
struct Pass {
    std::int64_t outer = 1, from = 1, to = 1, inner = 1;
    std::vector<std::int64_t> starts;  // of each output cell's taps; one more at the end
    std::vector<std::int64_t> cells;
    std::vector<float> weights;

    void run(const float* x, float* y, std::int64_t first, std::int64_t last) const {
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t o = row / to;
            const auto j = static_cast<std::size_t>(row % to);
            float* target = y + row * inner;
            const float* plane = x + o * from * inner;
            const auto begin = static_cast<std::size_t>(starts[j]),
                       end = static_cast<std::size_t>(starts[j + 1]);
            if (end - begin == 1 && weights[begin] == 1) {
                std::copy_n(plane + cells[begin] * inner, inner, target);
                continue;
            }
            std::fill_n(target, inner, 0.0F);
            for (std::size_t tap = begin; tap < end; ++tap) {
                const float* source = plane + cells[tap] * inner;
                const float weight = weights[tap];
                for (std::int64_t i = 0; i < inner; ++i) target[i] += weight * source[i];
            }
        }
    }
};

Pass pass_of(const graph::ResizedAxis& axis, const Layout& layout, const Dims& dims) {
    Pass pass;
    pass.from = axis.how.length;
    pass.to = axis.how.resized;
    bool inside = false;
    for (const std::uint8_t d : layout.order) {
        std::int64_t tile = 1;
        for (const auto& block : layout.blocks) tile *= block.dimension == d ? block.size : 1;
        if (d == axis.axis)
            inside = true;
        else
            (inside ? pass.inner : pass.outer) *= dims[d] / tile;
    }
    for (const auto& block : layout.blocks) pass.inner *= block.size;
    for (std::int64_t j = 0; j < pass.to; ++j) {
        pass.starts.push_back(static_cast<std::int64_t>(pass.cells.size()));
        for (const graph::Tap& tap : graph::taps_of(axis.how, j)) {
            if (tap.weight == 0) continue;
            pass.cells.push_back(tap.cell);
            pass.weights.push_back(static_cast<float>(tap.weight));
        }
    }
    pass.starts.push_back(static_cast<std::int64_t>(pass.cells.size()));
    return pass;
}

Result<Kernel> prepare(const Task& task, const plan::Choice& choice) {
    const auto axes = resized(task);
    if (!axes) return unknown_kernel(choice);
    const Layout& layout = choice.outputs[0].layout;
    Dims dims = task.dims(task.node().inputs[0]);
    std::vector<Pass> passes;
    std::int64_t room = 0;  // elements of the largest tensor in between
    for (const auto& axis : *axes) {
        passes.push_back(pass_of(axis, layout, dims));
        dims[static_cast<std::size_t>(axis.axis)] = axis.how.resized;
        if (passes.size() < axes->size()) room = std::max(room, plan::padded_elements(layout, dims));
    }
    room = (room + 15) / 16 * 16;
    Kernel kernel;
    kernel.workspace = Bytes(room * 2 * 4);
    const std::int64_t count = plan::padded_elements(layout, dims);
    kernel.run = [=, passes = std::move(passes), threads = task.context.threads](const Pointers& pointers) {
        const auto* x = reinterpret_cast<const float*>(pointers.inputs[0]);
        auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
        auto* scratch = reinterpret_cast<float*>(pointers.workspace);
        if (passes.empty()) std::copy_n(x, count, result);
        for (std::size_t p = 0; p < passes.size(); ++p) {
            const Pass& pass = passes[p];
            float* y = p + 1 == passes.size() ? result : scratch + static_cast<std::int64_t>(p % 2) * room;
            const std::int64_t rows = pass.outer * pass.to;
            if (rows * pass.inner < 16384)
                pass.run(x, y, 0, rows);
            else
                parallel(threads, [&](int thread) {
                    const auto [first, last] = share(rows, thread, threads);
                    pass.run(x, y, first, last);
                });
            x = y;
        }
    };
    return kernel;
}

}  // namespace

Family resize_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
