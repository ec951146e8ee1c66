// Operators that only move elements, with constant parameters: Slice, Pad, Expand, Tile, Split, DepthToSpace,
// a Gather by constants, … The reference kernel moves positions instead of elements, once; the kernel then
// copies what came from where, in runs or one by one. Any element type, row-major.
#include <algorithm>
#include <array>
#include <cstring>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

constexpr std::string_view movement_family_name = "move";
constexpr std::int64_t most_elements = std::int64_t{1} << 23;  // positions are held in memory for a moment
constexpr std::array movement_operators = {
    graph::op::Slice,          graph::op::Split,         graph::op::Pad,       graph::op::Expand,
    graph::op::Tile,           graph::op::DepthToSpace,  graph::op::Transpose, graph::op::SpaceToDepth,
    graph::op::Trilu,          graph::op::CenterCropPad, graph::op::Gather,    graph::op::GatherND,
    graph::op::GatherElements, graph::op::Compress,      graph::op::Reshape,   graph::op::Flatten,
    graph::op::Squeeze,        graph::op::Unsqueeze,     graph::op::Identity,  graph::op::ReverseSequence};

bool moves(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.op.domain().empty() || task.region.inputs.size() != 1 ||
        node.input(0) != task.region.inputs[0] ||
        std::find(movement_operators.begin(), movement_operators.end(), node.op) == movement_operators.end())
        return false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i)
        if (node.inputs[i] != ValueId::none && task.graph.constant(node.inputs[i]) == nullptr) return false;
    std::int64_t elements = 0;
    for (const auto* list : {&task.region.inputs, &task.region.outputs})
        for (const ValueId id : *list) {
            std::int64_t count = 1;
            for (const std::int64_t dimension : task.dims(id)) count *= dimension;
            elements = std::max(elements, count);
        }
    return elements <= most_elements;
}

std::vector<plan::Choice> offers_movement(const Task& task) {
    if (!moves(task)) return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(movement_family_name))};
    offer_moved(task, choices);
    return choices;
}

// Each output's elements by where they came from, counted from 1; 0 is the fill.
Result<std::vector<Tensor>> positions(const Task& task) {
    graph::Graph alone;
    Node node = task.node();
    Tensor numbered(ElementType::i64, task.dims(node.inputs[0]));
    std::int64_t next = 1;
    for (std::int64_t& position : numbered.mutable_values<std::int64_t>()) position = next++;
    node.inputs[0] = alone.add_input("x", numbered.tensor_type());
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == ValueId::none) continue;
        const bool is_fill = node.op == graph::op::Pad && i == 2;
        node.inputs[i] = alone.add_constant(
            "c", is_fill ? Tensor::scalar(std::int64_t{0}) : *task.graph.constant(node.inputs[i]));
    }
    const std::vector<ValueId> outputs = node.outputs;
    const graph::NodeId id = alone.add_node(std::move(node), outputs.size());
    std::vector<ValueId> read;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueId made = alone.node(id).outputs[i];
        if (outputs[i] == ValueId::none) continue;
        alone.set_type(made, {ElementType::i64, task.type(outputs[i]).shape});
        if (std::ranges::find(task.region.outputs, outputs[i]) != task.region.outputs.end())
            read.push_back(made);
    }
    alone.set_outputs(std::move(read));
    return graph::evaluate(alone, {numbered});
}

struct Run {
    std::int64_t to, from, length;  // in elements; from is −1 where the fill goes
};

struct Moves {
    std::vector<Run> runs;
    std::vector<std::int32_t> table;  // instead of short runs: where each element comes from
    std::int64_t count = 0;
};

Moves moves_of(std::span<const std::int64_t> from) {
    Moves moves;
    moves.count = static_cast<std::int64_t>(from.size());
    for (std::int64_t i = 0; i < moves.count; ++i) {
        const std::int64_t source = from[static_cast<std::size_t>(i)] - 1;
        if (!moves.runs.empty()) {
            Run& last = moves.runs.back();
            if (last.from < 0 ? source < 0 : source == last.from + last.length) {
                ++last.length;
                continue;
            }
        }
        moves.runs.push_back({i, source, 1});
    }
    if (static_cast<std::int64_t>(moves.runs.size()) * 8 <= moves.count) return moves;
    moves.runs.clear();
    for (const std::int64_t position : from) moves.table.push_back(static_cast<std::int32_t>(position - 1));
    return moves;
}

// The element that padding writes, of the result's type; none: zero bytes.
std::uint64_t fill_of(const Task& task, ElementType type) {
    const Node& node = task.node();
    std::uint64_t fill = 0;
    const Tensor* value = node.op == graph::op::Pad && node.input(2) != ValueId::none
                              ? task.graph.constant(node.inputs[2])
                              : nullptr;
    if (value == nullptr || value->count() == 0) return fill;
    if (type == ElementType::bf16 && value->type() == ElementType::f32)
        fill = graph::to_bfloat16(static_cast<float>(value->number(0)));
    else
        std::memcpy(&fill, value->bytes(), static_cast<std::size_t>(graph::size_of(value->type())));
    return fill;
}

template <class Word>
void move(const Moves& moves, const std::byte* source, std::byte* target, std::uint64_t fill, int threads) {
    const auto* from = reinterpret_cast<const Word*>(source);
    auto* to = reinterpret_cast<Word*>(target);
    const Word other = static_cast<Word>(fill);
    const auto pieces =
        static_cast<std::int64_t>(moves.table.empty() ? moves.runs.size() : moves.table.size());
    const auto work_on = [&](std::int64_t first, std::int64_t last) {
        if (!moves.table.empty()) {
            for (std::int64_t i = first; i < last; ++i) {
                const std::int32_t at = moves.table[static_cast<std::size_t>(i)];
                to[i] = at < 0 ? other : from[at];
            }
            return;
        }
        for (std::int64_t i = first; i < last; ++i) {
            const Run& run = moves.runs[static_cast<std::size_t>(i)];
            if (run.from < 0)
                std::fill_n(to + run.to, run.length, other);
            else
                std::copy_n(from + run.from, run.length, to + run.to);
        }
    };
    if (moves.count < 16384) return work_on(0, pieces);
    in_shares(threads, pieces, work_on);
}

Result<Kernel> prepare_movement(const Task& task, const plan::Choice& choice) {
    if (!moves(task)) return unknown_kernel(choice);
    VIRIDIAN_TRY(const std::vector<Tensor> made, positions(task));
    std::vector<Moves> all;
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (made[i].dims() != task.dims(task.region.outputs[i])) return unknown_kernel(choice);
        all.push_back(moves_of(made[i].values<std::int64_t>()));
    }
    if (choice.outputs.empty()) return unknown_kernel(choice);
    Kernel kernel;
    kernel.run = [all = std::move(all), fill = fill_of(task, choice.outputs[0].element),
                  threads = task.context.threads,
                  size = graph::size_of(choice.inputs[0].element)](const Pointers& pointers) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto copy = [&](auto word) {
                move<decltype(word)>(all[i], pointers.inputs[0], pointers.outputs[i], fill, threads);
            };
            if (size == 8) copy(std::uint64_t{});
            if (size == 4) copy(std::uint32_t{});
            if (size == 2) copy(std::uint16_t{});
            if (size == 1) copy(std::uint8_t{});
        }
    };
    return kernel;
}

}  // namespace

Family movement_family() { return {movement_family_name, offers_movement, prepare_movement}; }

}  // namespace viridian::execute::cpu
