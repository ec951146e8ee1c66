// Resize of f32 with constant scales or sizes: the filters are separable, so one axis after the other. Along
// an axis every output row is a weighted sum of a few input rows; a row is what lies inside that axis in
// memory.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/elementwise/resample.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/graph/reference/interpolation.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::Tensor;
using graph::ValueId;
using plan::Layout;

constexpr std::string_view resize_family_name = "simd:resize";

std::optional<std::vector<graph::ResizedAxis>> resized(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::Resize || task.region.inputs.size() != 1 ||
        node.input(0) != task.region.inputs[0] ||
        task.type(node.inputs[0]).element != graph::ElementType::f32 || !task.all_f32())
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

// [outer, from, inner] → [outer, to, inner].
struct AxisResize {
    std::int64_t outer = 1, from = 1, to = 1, inner = 1;
    std::vector<std::int64_t> starts;  // of each output cell's taps; one more at the end
    std::vector<std::int64_t> cells;
    std::vector<float> weights;
    // Of the innermost axis: every cell has `taps`, [tap][cell].
    std::int64_t taps = 0;
    std::vector<std::int32_t> near_cells;
    std::vector<float> near_weights;

    [[nodiscard]] bool innermost() const { return inner == 1; }
    // What threads share: rows of the output, or, innermost, whole lines.
    [[nodiscard]] std::int64_t rows() const { return innermost() ? outer : outer * to; }
    // Gathered elements cost about four times what streamed ones do.
    [[nodiscard]] std::int64_t cost() const { return outer * to * inner * (innermost() ? 4 : 1); }

    void run(const float* x, float* y, std::int64_t first, std::int64_t last) const {
        for (std::int64_t row = first; row < last; ++row) {
            if (innermost()) {
                simd::blend_elements(y + row * to, x + row * from, near_cells.data(), near_weights.data(),
                                     taps, to);
                continue;
            }
            const auto j = static_cast<std::size_t>(row % to);
            float* target = y + row * inner;
            const float* plane = x + row / to * from * inner;
            const auto begin = static_cast<std::size_t>(starts[j]);
            if (starts[j + 1] - starts[j] == 1 && weights[begin] == 1)
                std::copy_n(plane + cells[begin] * inner, inner, target);
            else
                simd::blend_rows(target, plane, &cells[begin], &weights[begin], starts[j + 1] - starts[j],
                                 inner);
        }
    }

    // As many taps for every cell: where some are missing, the last is cut in halves, so that infinities stay
    // what they are.
    void line_up() {
        for (std::size_t j = 0; j + 1 < starts.size(); ++j) taps = std::max(taps, starts[j + 1] - starts[j]);
        near_cells.resize(static_cast<std::size_t>(taps * to));
        near_weights.resize(near_cells.size());
        for (std::int64_t j = 0; j < to; ++j) {
            const std::int64_t begin = starts[static_cast<std::size_t>(j)],
                               own = starts[static_cast<std::size_t>(j) + 1] - begin;
            for (std::int64_t k = 0; k < taps; ++k) {
                const auto tap = static_cast<std::size_t>(begin + std::min(k, own - 1));
                const auto at = static_cast<std::size_t>(k * to + j);
                near_cells[at] = static_cast<std::int32_t>(cells[tap]);
                near_weights[at] = weights[tap];
                if (k >= own) near_weights[at] = near_weights[at - static_cast<std::size_t>(to)] *= 0.5F;
            }
        }
    }
};

AxisResize pass_of(const graph::ResizedAxis& axis, const Layout& layout, const Dims& dims) {
    AxisResize pass;
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
        if (pass.starts.back() == static_cast<std::int64_t>(pass.cells.size()))
            pass.cells.push_back(0), pass.weights.push_back(0);
    }
    pass.starts.push_back(static_cast<std::int64_t>(pass.cells.size()));
    if (pass.innermost()) pass.line_up();
    return pass;
}

struct Passes {
    std::vector<AxisResize> list;
    std::int64_t room = 0;  // elements of the largest tensor in between
    std::int64_t cost = 0;

    // All passes except the last write a tensor in between; more than two passes use two of them in turn.
    [[nodiscard]] Bytes workspace() const {
        const std::int64_t kept = std::clamp<std::int64_t>(std::ssize(list) - 1, 0, 2);
        return Bytes(kept * room * size_of(graph::ElementType::f32));
    }
};

Passes passes_of(const std::vector<graph::ResizedAxis>& axes, const Layout& layout, Dims dims) {
    Passes passes;
    for (const auto& axis : axes) {
        passes.list.push_back(pass_of(axis, layout, dims));
        passes.cost += passes.list.back().cost();
        dims[static_cast<std::size_t>(axis.axis)] = axis.how.resized;
        if (passes.list.size() < axes.size())
            passes.room = std::max(passes.room, plan::padded_elements(layout, dims));
    }
    passes.room = (passes.room + 15) / 16 * 16;
    return passes;
}

// In the order of axes that costs least.
Passes cheapest_passes(std::vector<graph::ResizedAxis> axes, const Layout& layout, const Dims& dims) {
    Passes best = passes_of(axes, layout, dims);
    if (axes.size() != 2) return best;
    std::swap(axes[0], axes[1]);
    Passes other = passes_of(axes, layout, dims);
    return other.cost < best.cost ? std::move(other) : std::move(best);
}

std::vector<plan::Choice> offers_resize(const Task& task) {
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
        plan::Choice choice = task.plain_choice(std::string(resize_family_name));
        choice.inputs[0].layout = choice.outputs[0].layout = layout;
        choice.workspace = cheapest_passes(*axes, layout, dims).workspace();
        choices.push_back(std::move(choice));
    }
    return choices;
}

Result<Kernel> prepare_resize(const Task& task, const plan::Choice& choice) {
    const auto axes = resized(task);
    if (!axes) return unknown_kernel(choice);
    const Layout& layout = choice.outputs[0].layout;
    Dims dims = task.dims(task.node().inputs[0]);
    Passes chosen = cheapest_passes(*axes, layout, dims);
    for (const auto& axis : *axes) dims[static_cast<std::size_t>(axis.axis)] = axis.how.resized;
    const std::int64_t room = chosen.room;
    Kernel kernel;
    kernel.workspace = chosen.workspace();
    const std::int64_t count = plan::padded_elements(layout, dims);
    kernel.run = [=, passes = std::move(chosen.list),
                  threads = task.context.threads](const Pointers& pointers) {
        const auto* x = reinterpret_cast<const float*>(pointers.inputs[0]);
        auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
        auto* scratch = reinterpret_cast<float*>(pointers.workspace);
        if (passes.empty()) std::copy_n(x, count, result);
        for (std::size_t p = 0; p < passes.size(); ++p) {
            const AxisResize& pass = passes[p];
            float* y = p + 1 == passes.size() ? result : scratch + static_cast<std::int64_t>(p % 2) * room;
            const std::int64_t rows = pass.rows();
            if (pass.outer * pass.to * pass.inner < 16384)
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

Family resize_family() { return {resize_family_name, offers_resize, prepare_resize}; }

}  // namespace viridian::execute::cpu
