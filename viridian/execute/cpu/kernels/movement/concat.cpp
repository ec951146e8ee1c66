// Concat in place: producers write into the output. Where they cannot, one copy per input; a constant among
// them (a vision transformer's class token) is copied from its row-major tensor.
#include <algorithm>
#include <cstring>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using plan::Layout;

constexpr std::string_view in_place = "concat:gather";
constexpr std::string_view copying = "concat:copy";

struct Concat {
    std::size_t axis = 0;
    std::vector<std::optional<std::size_t>> inputs;  // region input by node input; none: a constant
    std::vector<Dims> dims;
    bool with_constants = false;
};

std::optional<Concat> concat_of(const Task& task) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::Concat) return std::nullopt;
    const Dims result = task.dims(node.outputs[0]);
    const auto axis =
        graph::normalize_axis(node.integer("axis", 0), static_cast<std::int64_t>(result.size()));
    if (!axis.ok()) return std::nullopt;
    Concat concat{static_cast<std::size_t>(*axis), {}, {}};
    for (const auto id : node.inputs) {
        concat.inputs.push_back(task.input_index(id));
        if (!concat.inputs.back()) concat.with_constants = true;
        if (!concat.inputs.back() && task.graph.constant(id) == nullptr) return std::nullopt;
        concat.dims.push_back(task.dims(id));
        if (std::ranges::count(concat.dims.back(), 0) > 0) return std::nullopt;
    }
    return concat;
}

std::int64_t block_of(const Layout& layout, std::size_t axis) {
    std::int64_t block = 1;
    for (const auto& tile : layout.blocks) block *= tile.dimension == axis ? tile.size : 1;
    return block;
}

// Parts must fill whole blocks of the axis, or the next one would start inside a block.
bool fits(const Concat& concat, const Layout& layout) {
    const std::int64_t block = block_of(layout, concat.axis);
    for (std::size_t i = 0; i + 1 < concat.dims.size(); ++i)
        if (concat.dims[i][concat.axis] % block != 0) return false;
    return true;
}

// How often the axis begins anew in memory: the product of what lies outside it.
std::int64_t outer(const Concat& concat, const Layout& layout) {
    std::int64_t count = 1;
    for (const std::uint8_t d : layout.order) {
        if (d == concat.axis) break;
        count *= (concat.dims[0][d] + block_of(layout, d) - 1) / block_of(layout, d);
    }
    return count;
}

std::vector<plan::Choice> offers_concat(const Task& task) {
    const auto concat = concat_of(task);
    if (!concat) return {};
    const std::size_t rank = concat->dims[0].size();
    std::vector<Layout> layouts = {plan::plain(rank)};
    if (rank > 2 && !concat->with_constants)
        layouts.insert(layouts.end(), {plan::channels_last(rank), plan::channels_blocked(rank, 16),
                                       plan::channels_blocked(rank, 8)});
    std::vector<plan::Choice> choices;
    for (const Layout& layout : layouts) {
        if (!fits(*concat, layout)) continue;
        plan::Choice choice = task.plain_choice(std::string(copying));
        for (auto& format : choice.inputs) format.layout = layout;
        choice.outputs[0].layout = layout;
        const bool distinct = !concat->with_constants && concat->inputs.size() == task.region.inputs.size();
        if (outer(*concat, layout) == 1 && distinct) {
            plan::Choice gathered = choice;
            gathered.kernel = in_place;
            gathered.aliasing = plan::Aliasing::gather;
            choices.push_back(std::move(gathered));
        }
        choices.push_back(std::move(choice));
    }
    if (!concat->with_constants) offer_moved(task, choices);  // a constant keeps its precision
    return choices;
}

Result<Kernel> prepare_concat(const Task& task, const plan::Choice& choice) {
    const auto concat = concat_of(task);
    if (!concat || choice.kernel != copying) return unknown_kernel(choice);
    const Layout& layout = choice.outputs[0].layout;
    const std::int64_t rows = outer(*concat, layout);
    struct Part {
        bool constant;
        std::size_t index;           // among the kernel's constants or the region's inputs
        std::int64_t bytes, offset;  // of one row
    };
    Kernel kernel;
    std::vector<Part> parts;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < concat->inputs.size(); ++i) {
        const std::int64_t bytes =
            plan::buffer_bytes({layout, choice.outputs[0].element, {}}, concat->dims[i]) / rows;
        const auto input = concat->inputs[i];
        parts.push_back({!input, input.value_or(kernel.constants.size()), bytes, row});
        if (!input) kernel.constants.push_back(plain_constant(task, task.node().inputs[i]));
        row += bytes;
    }
    kernel.run = [=, threads = task.context.threads](const Pointers& pointers) {
        const auto copy = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t r = first; r < last; ++r)
                for (const Part& part : parts)
                    std::memcpy(
                        pointers.outputs[0] + r * row + part.offset,
                        (part.constant ? pointers.constants : pointers.inputs)[part.index] + r * part.bytes,
                        static_cast<std::size_t>(part.bytes));
        };
        if (rows * row < 32768 || rows == 1) return copy(0, rows);
        in_shares(threads, rows, copy);
    };
    return kernel;
}

}  // namespace

Family concat_family() { return {"concat", offers_concat, prepare_concat}; }

}  // namespace viridian::execute::cpu
