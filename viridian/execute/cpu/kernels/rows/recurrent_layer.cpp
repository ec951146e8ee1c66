#include "viridian/execute/cpu/kernels/rows/recurrent_layer.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu::recurrent {
namespace {

using graph::Node;
using graph::Tensor;
using graph::ValueId;

std::optional<Cell> cell_of(const Node& node) {
    const auto given = node.get("activations", std::vector<std::string>());
    const auto all = [&](std::initializer_list<std::string_view> names) {
        for (std::size_t i = 0; i < given.size(); ++i)
            if (given[i] != *(names.begin() + i % names.size())) return false;
        return true;
    };
    if (node.op == graph::op::LSTM) {
        if (!all({"Sigmoid", "Tanh", "Tanh"}) || node.integer("input_forget", 0) != 0) return std::nullopt;
        return Cell::lstm;
    }
    if (node.op == graph::op::GRU) {
        if (!all({"Sigmoid", "Tanh"})) return std::nullopt;
        return node.integer("linear_before_reset", 0) != 0 ? Cell::gru : Cell::gru_before;
    }
    if (node.op != graph::op::RNN) return std::nullopt;
    if (all({"Tanh"})) return Cell::rnn_tanh;
    return all({"Relu"}) ? std::optional(Cell::rnn_relu) : std::nullopt;
}

// As long as the sequence, every one: then there is no need to look at it.
bool full_lengths(const Task& task, ValueId id, std::int64_t steps) {
    if (id == ValueId::none) return true;
    const Tensor* lengths = task.graph.constant(id);
    if (lengths == nullptr) return false;
    for (std::int64_t i = 0; i < lengths->count(); ++i)
        if (lengths->number(i) < static_cast<double>(steps)) return false;
    return true;
}

}  // namespace

std::optional<Layer> layer_of(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.op.domain().empty()) return std::nullopt;
    const auto cell = cell_of(node);
    if (!cell || !task.all_f32() || node.get("clip", 0.0) != 0 || node.input(7) != ValueId::none)
        return std::nullopt;
    Layer layer;
    layer.cell = *cell;
    for (const std::size_t i : {1U, 2U, 3U})
        if (node.input(i) != ValueId::none && task.graph.constant(node.inputs[i]) == nullptr)
            return std::nullopt;
    if (!task.input_index(node.inputs[0])) return std::nullopt;
    const graph::Dims x = task.dims(node.inputs[0]), r = task.dims(node.inputs[2]);
    layer.batch_first = node.integer("layout", 0) != 0;
    layer.steps = x[layer.batch_first ? 1 : 0];
    layer.batch = x[layer.batch_first ? 0 : 1];
    layer.width = x[2];
    layer.directions = r[0];
    layer.hidden = r[2];
    layer.reverse = node.get("direction", std::string("forward")) == "reverse";
    layer.threads = task.context.threads;
    if (std::min({layer.steps, layer.batch, layer.width, layer.hidden}) < 1 ||
        layer.floats() > std::int64_t{1} << 28 || !full_lengths(task, node.input(4), layer.steps))
        return std::nullopt;
    const auto place = [&](ValueId id) -> Operand {
        if (const auto input = task.input_index(id)) return {Operand::From::input, *input};
        return id == ValueId::none ? Operand{} : Operand{Operand::From::constant, 0};
    };
    layer.x = place(node.inputs[0]);
    layer.hidden_start = place(node.input(5));
    layer.state_start = place(node.input(6));
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < task.region.outputs.size(); ++k)
            if (node.output(i) == task.region.outputs[k]) layer.results[i] = {Operand::From::output, k};
    return layer;
}

}  // namespace viridian::execute::cpu::recurrent
