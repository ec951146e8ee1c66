#include <algorithm>
#include <map>
#include <numeric>

#include "viridian/execute/cpu/kernels/bodies/meaning.hpp"
#include "viridian/execute/cpu/kernels/fused/program_values.hpp"
#include "viridian/execute/cpu/kernels/fused/row_operator.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;

constexpr std::size_t most_scratch_rows = 8, most_scratch = 12;
constexpr std::int64_t most_row_bytes = 1 << 16;  // of rows that several nodes read or make
constexpr std::int64_t most_sum_bytes = 1 << 21;  // of one sum over rows

class ProgramReader : ProgramValues {
  public:
    ProgramReader(const Task& task, const plan::Layout* layout) : ProgramValues(task, layout) {}

    // Reads the region. A body is worth a pass in any case.
    std::optional<Program> read(bool body) {
        if (!all_known() || !find_shape() || !find_rows()) return std::nullopt;
        for (const graph::NodeId id : task_.region.nodes)
            for (const ValueId input : task_.graph.node(id).inputs) {
                ++readers_[input];
                last_reader_[input] = &task_.graph.node(id);
            }
        for (std::size_t i = 0; i < task_.region.nodes.size();) {
            const std::size_t nodes = read_at(i);
            if (nodes == 0) return std::nullopt;
            i += nodes;
        }
        if (!all_made() || !fits() || (!body && !pays())) return std::nullopt;
        return std::move(program_);
    }

  private:
    bool all_known() const {
        const auto known = [&](ValueId id) { return id == ValueId::none || task_.type(id).known(); };
        return std::ranges::all_of(task_.region.nodes, [&](graph::NodeId id) {
            const Node& node = task_.graph.node(id);
            return std::ranges::all_of(node.inputs, known) && std::ranges::all_of(node.outputs, known);
        });
    }

    // Returns whether every output of the region is made.
    bool all_made() const {
        return std::ranges::all_of(task_.region.outputs, [&](ValueId id) {
            if (const auto made = places_.find(id); made != places_.end())
                return made->second.in == ProgramPlace::In::output;
            const auto output = output_index(task_, id);
            return std::ranges::find(program_.sums, output) != program_.sums.end();
        });
    }

    bool fits() const {
        if (program_.scratch > (program_.in_rows ? most_scratch_rows : most_scratch)) return false;
        if (!program_.in_rows) return true;
        return (program_.sums.empty() || program_.n * size_of(ElementType::f64) <= most_sum_bytes) &&
               (task_.region.nodes.size() == 1 || program_.n * float_bytes <= most_row_bytes);
    }

    // Returns whether the region is worth a pass: if it is one node, except those that `simd:typed`,
    // `simd:dropout` and views compute, or if its nodes read each other or one tensor.
    bool pays() const {
        if (task_.region.nodes.size() == 1)
            return std::ranges::none_of(program_.steps, [](const ProgramStep& step) {
                return step.does == ProgramStep::Does::select || step.does == ProgramStep::Does::draw ||
                       step.does == ProgramStep::Does::copy;
            });
        std::map<ValueId, graph::NodeId> reads;
        for (const graph::NodeId id : task_.region.nodes)
            for (const ValueId input : task_.graph.node(id).inputs) {
                if (places_.contains(input)) return true;
                const auto other = reads.emplace(input, id).first->second;
                if (other != id && is_whole(input)) return true;
            }
        return false;
    }

    bool add(const Node& node, ProgramStep step) {
        drop(node);
        step.to.push_back(made_whole(node.outputs[0]));
        program_.steps.push_back(std::move(step));
        return true;
    }

    // Reads node `i` of the region, and those after it that are one step with it. Returns how many these are.
    std::size_t read_at(std::size_t i) {
        const Node& node = task_.node(i);
        if (node.inputs.empty() || node.output(0) == ValueId::none) return 0;
        if (const std::size_t nodes = read_gate(i)) return nodes;
        return read(node) ? 1 : 0;
    }

    bool read(const Node& node) {
        using graph::op::DropoutMask, graph::op::ReduceSum, graph::op::Softmax, graph::op::LogSoftmax,
            graph::op::Where;
        if (const auto op = row_operator(node)) return read_row_operator(node, *op);
        if (node.op == DropoutMask) return read_mask(node);
        if (node.op == Where) return read_select(node);
        if (node.op == ReduceSum) return read_sum(node);
        if (node.op == Softmax || node.op == LogSoftmax) {
            const MaybePlace x = whole(node.inputs[0]);
            const auto does =
                node.op == Softmax ? ProgramStep::Does::softmax : ProgramStep::Does::log_softmax;
            return x && ends_rows() && add(node, {.does = does, .from = {x}});
        }
        if (is_sum(node) && (scaled_.contains(node.inputs[0]) || scaled_.contains(node.inputs[1])))
            return read_combination(node);
        if (std::ranges::none_of(node.inputs, [&](ValueId id) { return whole(id).has_value(); }))
            return read_number(node);
        if (node.op == graph::op::Identity || node.op == graph::op::Cast) return read_copy(node);
        return wait_for_sum(node) || read_elements(node);
    }

    // A product of a tensor and a number that one sum reads; it is computed with the sum.
    struct Scaled {
        const Node* node;
        ValueId x;
        ProgramPlace number;
    };

    static bool is_sum(const Node& node) {
        return (node.op == graph::op::Add || node.op == graph::op::Sub) && node.inputs.size() == 2 &&
               node.inputs[0] != node.inputs[1];
    }

    // Returns whether the node is such a product, which is then left for the sum. Its tensor keeps its place.
    bool wait_for_sum(const Node& node) {
        const ValueId result = node.outputs[0];
        if (node.op != graph::op::Mul || !is_whole(result) || output_index(task_, result) ||
            readers_[result] != 1)
            return false;
        const Node& reader = *last_reader_[result];
        const auto is_tensor = [&](ValueId id) {
            return is_whole(id) && task_.graph.constant(id) == nullptr;
        };
        if (!is_sum(reader) || !is_whole(reader.outputs[0]) || !std::ranges::all_of(reader.inputs, is_tensor))
            return false;
        for (const bool second : {false, true}) {
            const ValueId x = node.inputs[second ? 1 : 0], other = node.inputs[second ? 0 : 1];
            if (!whole(x) || is_whole(other)) continue;
            const MaybePlace by = number(other);
            if (by) return scaled_.emplace(result, Scaled{&node, x, *by}).second;
        }
        return false;
    }

    bool read_combination(const Node& node) {
        ProgramStep step{.does = ProgramStep::Does::combine, .subtracts = node.op == graph::op::Sub};
        std::vector<MaybePlace> numbers;
        for (const ValueId input : node.inputs) {
            const auto scaled = scaled_.find(input);
            const bool found = scaled != scaled_.end();
            step.from.push_back(whole(found ? scaled->second.x : input));
            if (!step.from.back()) return false;
            numbers.push_back(found ? MaybePlace(scaled->second.number) : std::nullopt);
            if (found) drop(*scaled->second.node);
        }
        step.from.insert(step.from.end(), numbers.begin(), numbers.end());
        return add(node, std::move(step));
    }

    // Reads a gate that begins with node `i`, if nobody else reads what lies between its nodes. Returns how
    // many nodes it has, or 0.
    std::size_t read_gate(std::size_t i) {
        for (const ValueId x : task_.node(i).inputs) {
            const MaybePlace from = whole(x);
            const auto gate = from ? gate_at(task_, i, x) : std::nullopt;
            if (!gate) continue;
            const auto inside = [&](std::size_t k) {
                const ValueId id = task_.node(i + k).outputs[0];
                return readers_[id] == 1 && !output_index(task_, id);
            };
            std::size_t k = 0;
            while (k + 1 < gate->nodes && inside(k)) ++k;
            if (k + 1 < gate->nodes) continue;
            for (std::size_t before = 0; before < k; ++before) drop(task_.node(i + before));
            return add(task_.node(i + k), {.element = gate->step, .from = {from}}) ? gate->nodes : 0;
        }
        return 0;
    }

    bool read_number(const Node& node) {
        const auto op = number_operation(node);
        const ValueId result = node.outputs[0];
        if (!op || std::ranges::count(node.inputs, ValueId::none) > 0 || output_index(task_, result))
            return false;
        const auto a = number_of(node.inputs[0]), b = number_of(node.inputs.back());
        if (!a || !b) return false;
        const ElementType type = task_.type(result).element;
        const auto count = graph::element_count(task_.dims(result));
        if (!count.ok() || *count != 1 || (type != ElementType::f32 && type != ElementType::f64))
            return false;
        const std::size_t to = numbers_[result] = program_.numbers.add(0);
        program_.numbers.steps.push_back({*op, to, *a, *b, type == ElementType::f32});
        return true;
    }

    // Reads a node that gives a tensor a second name, or copies it to an output.
    bool read_copy(const Node& node) {
        const ValueId result = node.outputs[0];
        const MaybePlace x = whole(node.inputs[0]);
        if (node.inputs.size() != 1 || !x || !is_whole(result)) return false;
        if (output_index(task_, result)) return add(node, {.does = ProgramStep::Does::copy, .from = {x}});
        name_again(node.inputs[0], result, *x);
        drop(node);
        return true;
    }

    bool read_elements(const Node& node) {
        if (!is_whole(node.outputs[0])) return false;
        if (node.op == graph::op::Sum && node.inputs.size() > 2) return read_long_sum(node);
        for (const ValueId from : node.inputs) {
            const MaybePlace x = whole(from);
            const auto step = x ? as_step(task_, node, from) : std::nullopt;
            if (!step || step->function == Function::pow) continue;  // which has no vector code
            if (step->operand == ValueId::none) return add(node, {.element = *step, .from = {x}});
            if (const MaybePlace other = operand(step->operand))
                return add(node, {.element = *step, .from = {x, other}});
        }
        return false;
    }

    // The result takes a place of its own, because it is written while later terms wait.
    bool read_long_sum(const Node& node) {
        std::vector<MaybePlace> terms;
        for (const ValueId id : node.inputs)
            if (!terms.emplace_back(whole(id))) return false;
        const ProgramPlace to = made_whole(node.outputs[0]);
        drop(node);
        MaybePlace x = terms[0];
        for (std::size_t i = 1; i < terms.size(); ++i) {
            program_.steps.push_back({.element = {Function::add}, .from = {x, terms[i]}, .to = {to}});
            x = to;
        }
        return true;
    }

    bool read_select(const Node& node) {
        if (node.inputs.size() != 3 || !is_whole(node.outputs[0])) return false;
        const MaybePlace condition = whole(node.inputs[0], ElementType::boolean);
        const MaybePlace yes = operand(node.inputs[1]), no = operand(node.inputs[2]);
        if (!condition || !yes || !no) return false;
        ProgramStep step{.does = ProgramStep::Does::select, .from = {condition, yes, no}};
        step.to.push_back(made_whole(node.outputs[0]));  // not over the condition, whose elements are smaller
        drop(node);
        program_.steps.push_back(std::move(step));
        return true;
    }

    bool read_mask(const Node& node) {
        if (program_.masks.size() == most_masks) return false;
        const auto work = mask_work(task_, node);
        if (!work || !is_whole(node.outputs[0], ElementType::boolean)) return false;
        if (program_.n % 4 != 0 || work->elements % program_.n != 0) return false;
        program_.masks.push_back(*work);
        ProgramStep step{.does = ProgramStep::Does::draw, .mask = program_.masks.size() - 1};
        step.to.push_back(made(node.outputs[0], {{}, 0, size_of(ElementType::boolean)}));
        program_.steps.push_back(std::move(step));
        return true;
    }

    bool read_sum(const Node& node) {
        const MaybePlace x = whole(node.inputs[0]);
        const graph::Tensor* constant = task_.graph.constant(node.input(1));
        if (!x || axis_ == 0 || constant == nullptr || node.integer("noop_with_empty_axes", 0) != 0)
            return false;
        Dims axes = constant->integers();
        for (std::int64_t& axis : axes) {
            const auto counted = graph::normalize_axis(axis, static_cast<std::int64_t>(dims().size()));
            if (!counted.ok()) return false;
            axis = *counted;
        }
        std::ranges::sort(axes);
        Dims outer(static_cast<std::size_t>(axis_));
        std::iota(outer.begin(), outer.end(), 0);
        if (axes != outer) return false;
        const auto sum = new_sum(node.outputs[0]);
        if (!sum) return false;
        drop(node);
        program_.steps.push_back({.does = ProgramStep::Does::sum, .from = {x}, .sums = {*sum}});
        return true;
    }

    bool read_row_operator(const Node& node, RowOperator op) {
        using Does = ProgramStep::Does;
        const MaybePlace first = whole(node.inputs[0]);
        if (!first) return false;
        if (op == RowOperator::forward) return read_normalization(node, first);
        const MaybePlace second = whole(node.input(1));
        if (!second) return false;
        if (op != RowOperator::scale_gradient && !is_whole(node.outputs[0])) return false;
        if (op == RowOperator::softmax_gradient)
            return ends_rows() && add(node, {.does = Does::softmax_gradient, .from = {first, second}});
        const bool of_input = op == RowOperator::input_gradient;
        const MaybePlace scale = of_input ? row(node.input(2)) : MaybePlace();
        const MaybePlace mean = statistic(node.input(of_input ? 3 : 2)),
                         inverse = statistic(node.input(of_input ? 4 : 3));
        if (!mean || !inverse) return false;
        if (of_input)
            return scale &&
                   add(node, {.does = Does::input_gradient, .from = {first, second, scale, mean, inverse}});
        const auto along = new_sum(node.outputs[0]), plain = new_sum(node.output(1));
        if (!along || !plain) return false;
        drop(node);
        program_.steps.push_back(
            {.does = Does::scale_gradient, .from = {first, second, mean, inverse}, .sums = {*along, *plain}});
        return true;
    }

    bool read_normalization(const Node& node, const MaybePlace& x) {
        const MaybePlace scale = row(node.input(1));
        const bool shifted = node.input(2) != ValueId::none;
        const MaybePlace shift = shifted ? row(node.input(2)) : MaybePlace();
        if (!scale || (shifted && !shift) || !is_whole(node.outputs[0])) return false;
        ProgramStep step{.does = ProgramStep::Does::normalize,
                         .epsilon = static_cast<float>(node.get("epsilon", 1e-5)),
                         .from = {x, scale, shift}};
        drop(node);
        step.to.push_back(made_whole(node.outputs[0]));
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
            const ValueId id = node.output(i);
            if (id != ValueId::none && !is_statistic(task_, id, rows_)) return false;
            step.to.push_back(made(id, {{}, 0, 0, float_bytes}));
        }
        program_.steps.push_back(std::move(step));
        return true;
    }

    std::map<ValueId, const Node*> last_reader_;
    std::map<ValueId, Scaled> scaled_;
};

}  // namespace

std::optional<Program> fused_program(const Task& task, const plan::Layout* layout) {
    if (task.region.outputs.empty()) return std::nullopt;
    if (auto program = ProgramReader(task, layout).read(false)) return program;
    const auto meaning = meaning_of(task);
    if (!meaning) return std::nullopt;
    const auto order = topological_order(*meaning);
    if (!order.ok()) return std::nullopt;
    const plan::Region body{*order, meaning->inputs(), {}, meaning->outputs(), task.region.dies};
    return ProgramReader(Task{task.context, *meaning, body}, layout).read(true);
}

}  // namespace viridian::execute::cpu
