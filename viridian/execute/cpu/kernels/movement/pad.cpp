// Pad with a constant: any layout whose padded axes are whole, by rows of memory.
#include <algorithm>
#include <cstring>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using plan::Layout;

constexpr std::string_view pad_family_name = "pad";

struct PadPadding {
    Dims from, to, begin;
    float value = 0;
};

std::optional<PadPadding> padding_of(const Task& task) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::Pad) return std::nullopt;
    if (node.get("mode", std::string("constant")) != "constant") return std::nullopt;
    if (!task.input_index(node.inputs[0]) || task.type(node.inputs[0]).element != graph::ElementType::f32)
        return std::nullopt;
    const graph::Tensor* pads = task.graph.constant(node.input(1));
    if (pads == nullptr || node.input(3) != ValueId::none) return std::nullopt;
    PadPadding padding{task.dims(node.inputs[0]), task.dims(node.outputs[0]), {}, 0};
    const std::size_t rank = padding.from.size();
    if (rank == 0 || pads->count() != static_cast<std::int64_t>(2 * rank)) return std::nullopt;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t begin = pads->integer(static_cast<std::int64_t>(d));
        if (begin < 0 || pads->integer(static_cast<std::int64_t>(d + rank)) < 0 || padding.from[d] == 0)
            return std::nullopt;
        padding.begin.push_back(begin);
    }
    if (node.input(2) != ValueId::none) {
        const graph::Tensor* value = task.graph.constant(node.inputs[2]);
        if (value == nullptr || value->count() != 1) return std::nullopt;
        padding.value = static_cast<float>(value->number(0));
    }
    return padding;
}

bool fits(const PadPadding& padding, const Layout& layout) {
    for (const auto& tile : layout.blocks) {
        const auto d = tile.dimension;
        if (padding.from[d] != padding.to[d] || padding.from[d] % tile.size != 0) return false;
    }
    return true;
}

std::vector<plan::Choice> offers_pad(const Task& task) {
    const auto padding = padding_of(task);
    if (!padding || task.region.inputs.size() != 1) return {};
    const std::size_t rank = padding->from.size();
    std::vector<Layout> layouts = {plan::plain(rank)};
    if (rank > 2)
        layouts.insert(layouts.end(), {plan::channels_blocked(rank, 16), plan::channels_blocked(rank, 8),
                                       plan::channels_last(rank)});
    std::vector<plan::Choice> choices;
    for (const Layout& layout : layouts) {
        if (!fits(*padding, layout)) continue;
        plan::Choice choice = task.plain_choice(std::string(pad_family_name));
        choice.inputs[0].layout = choice.outputs[0].layout = layout;
        choices.push_back(std::move(choice));
    }
    offer_moved(task, choices);
    return choices;
}

Result<Kernel> prepare_pad(const Task& task, const plan::Choice& choice) {
    const auto padding = padding_of(task);
    if (!padding) return unknown_kernel(choice);
    const Layout& layout = choice.outputs[0].layout;
    // Rows of the result along the innermost unsplit axis; outer axes in memory order.
    std::int64_t tile = 1;
    for (const auto& split : layout.blocks) tile *= split.size;
    struct Axis {
        std::int64_t from, to, begin;
    };
    std::vector<Axis> axes;
    for (const std::uint8_t d : layout.order) {
        std::int64_t size = 1;
        for (const auto& split : layout.blocks) size *= split.dimension == d ? split.size : 1;
        axes.push_back({padding->from[d] / size, padding->to[d] / size, padding->begin[d]});
    }
    const Axis inner = axes.back();
    axes.pop_back();
    std::int64_t rows = 1;
    for (const Axis& axis : axes) rows *= axis.to;
    Kernel kernel;
    const auto pad = [=, threads = task.context.threads](const Pointers& pointers, auto value) {
        using Element = decltype(value);
        const auto* source = reinterpret_cast<const Element*>(pointers.inputs[0]);
        auto* result = reinterpret_cast<Element*>(pointers.outputs[0]);
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t row = first; row < last; ++row) {
                Element* to = result + row * inner.to * tile;
                std::int64_t left = row, stride = 1, at = 0;
                bool inside = true;
                for (std::size_t i = axes.size(); i-- > 0; left /= axes[i].to, stride *= axes[i].from) {
                    const std::int64_t position = left % axes[i].to - axes[i].begin;
                    inside = inside && position >= 0 && position < axes[i].from;
                    at += position * stride;
                }
                if (!inside) {
                    std::fill_n(to, inner.to * tile, value);
                    continue;
                }
                std::fill_n(to, inner.begin * tile, value);
                std::copy_n(source + at * inner.from * tile, inner.from * tile, to + inner.begin * tile);
                std::fill(to + (inner.begin + inner.from) * tile, to + inner.to * tile, value);
            }
        };
        if (rows * inner.to * tile < 16384) return work_on(0, rows);
        in_shares(threads, rows, work_on);
    };
    const float value = padding->value;
    if (in_bf16(choice.outputs[0]))
        kernel.run = [pad, value = graph::to_bfloat16(value)](const Pointers& p) { pad(p, value); };
    else
        kernel.run = [pad, value](const Pointers& p) { pad(p, value); };
    return kernel;
}

}  // namespace

Family pad_family() { return {pad_family_name, offers_pad, prepare_pad}; }

}  // namespace viridian::execute::cpu
