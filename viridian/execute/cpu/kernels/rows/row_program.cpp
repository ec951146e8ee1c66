#include "viridian/execute/cpu/kernels/rows/row_program.hpp"

#include <algorithm>
#include <map>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/kernels/training/row_operator.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;
using Place = std::optional<RowPlace>;

constexpr std::size_t most_row_scratch = 8;
constexpr std::int64_t most_row_bytes = 1 << 16;

class RowReader {
  public:
    explicit RowReader(const Task& task) : task_(task) {}

    std::optional<RowProgram> read() {
        if (!all_known() || !find_shape()) return std::nullopt;
        for (const graph::NodeId id : task_.region.nodes)
            for (const ValueId input : task_.graph.node(id).inputs) ++readers_[input];
        for (const graph::NodeId id : task_.region.nodes)
            if (!read(task_.graph.node(id))) return std::nullopt;
        if (program_.scratch > most_row_scratch || !pays()) return std::nullopt;
        return std::move(program_);
    }

  private:
    // Whether one pass over rows has a use: sums over them, or nodes that read each other or one tensor.
    [[nodiscard]] bool pays() const {
        if (task_.region.nodes.size() == 1) return !program_.sums.empty();
        std::map<ValueId, graph::NodeId> reads;
        for (const graph::NodeId id : task_.region.nodes)
            for (const ValueId input : task_.graph.node(id).inputs) {
                if (places_.contains(input)) return true;
                const auto other = reads.emplace(input, id).first->second;
                if (other != id && is_whole(input)) return true;
            }
        return false;
    }

    bool all_known() const {
        const auto known = [&](ValueId id) { return id == ValueId::none || task_.type(id).known(); };
        return std::ranges::all_of(task_.region.nodes, [&](graph::NodeId id) {
            const Node& node = task_.graph.node(id);
            return std::ranges::all_of(node.inputs, known) && std::ranges::all_of(node.outputs, known);
        });
    }

    // The shape of whole tensors is that of the largest.
    bool find_shape() {
        std::int64_t most = 0;
        const auto consider = [&](ValueId id) {
            if (id == ValueId::none || task_.type(id).element != ElementType::f32) return;
            const auto count = graph::element_count(task_.dims(id));
            if (!count.ok() || *count <= most) return;
            most = *count;
            dims_ = task_.dims(id);
        };
        for (const graph::NodeId id : task_.region.nodes) {
            std::ranges::for_each(task_.graph.node(id).outputs, consider);
            std::ranges::for_each(task_.graph.node(id).inputs, consider);
        }
        if (dims_.size() < 2) return false;
        program_.n = dims_.back();
        program_.rows = most / program_.n;
        return program_.n * size_of(ElementType::f32) <= most_row_bytes;
    }

    [[nodiscard]] std::int64_t row_bytes() const { return program_.n * size_of(ElementType::f32); }
    [[nodiscard]] bool is_whole(ValueId id, ElementType element = ElementType::f32) const {
        return id != ValueId::none && task_.type(id).element == element && task_.dims(id) == dims_;
    }

    // Where a whole tensor of this type is read.
    Place whole(ValueId id, ElementType element = ElementType::f32) const {
        if (!is_whole(id, element)) return std::nullopt;
        if (const auto made = places_.find(id); made != places_.end()) return made->second;
        const auto input = task_.input_index(id);
        if (!input) return std::nullopt;
        return RowPlace{RowPlace::In::input, *input, program_.n * size_of(element)};
    }

    Place row(ValueId id) {
        if (!is_row(task_, id, dims_, dims_.size() - 1)) return std::nullopt;
        if (const auto input = task_.input_index(id)) return RowPlace{RowPlace::In::input, *input, 0};
        if (task_.graph.constant(id) == nullptr) return std::nullopt;
        program_.constants.push_back(id);
        return RowPlace{RowPlace::In::constant, program_.constants.size() - 1, 0};
    }

    Place number(ValueId id) {
        const graph::Tensor* constant = task_.graph.constant(id);
        if (constant == nullptr || constant->count() != 1 || constant->type() != ElementType::f32)
            return std::nullopt;
        program_.numbers.push_back(static_cast<float>(constant->number(0)));
        return RowPlace{RowPlace::In::number, program_.numbers.size() - 1, 0};
    }

    // One number a row, of another node or from outside.
    Place statistic(ValueId id) const {
        if (!is_statistic(task_, id, program_.rows)) return std::nullopt;
        if (const auto made = places_.find(id); made != places_.end()) return made->second;
        const auto input = task_.input_index(id);
        if (!input) return std::nullopt;
        return RowPlace{RowPlace::In::input, *input, size_of(ElementType::f32)};
    }

    Place operand(ValueId id) {
        if (const Place place = whole(id)) return place;
        if (const Place place = row(id)) return place;
        return number(id);
    }

    // Counts one reader of each input as done; scratch is free after the last.
    void drop(const Node& node) {
        for (const ValueId id : node.inputs) {
            const auto place = places_.find(id);
            if (place != places_.end() && --readers_[id] == 0 && place->second.in == RowPlace::In::scratch)
                free_.push_back(place->second.index);
        }
    }

    RowPlace made(ValueId id, std::int64_t step) {
        if (id != ValueId::none)
            if (const auto output = output_index(task_, id))
                return places_[id] = RowPlace{RowPlace::In::output, *output, step};
        std::size_t index = program_.scratch;
        if (free_.empty())
            ++program_.scratch;
        else
            index = free_.back(), free_.pop_back();
        const RowPlace place{RowPlace::In::scratch, index, 0};
        if (id == ValueId::none || readers_[id] == 0)
            free_.push_back(index);
        else
            places_[id] = place;
        return place;
    }

    bool add(const Node& node, RowStep step) {
        drop(node);
        step.to.push_back(made(node.outputs[0], row_bytes()));
        program_.steps.push_back(std::move(step));
        return true;
    }

    bool read(const Node& node) {
        using graph::op::DropoutMask, graph::op::ReduceSum, graph::op::Softmax, graph::op::Where;
        if (node.inputs.empty() || node.output(0) == ValueId::none) return false;
        if (const auto op = row_operator(node)) return read_row_operator(node, *op);
        if (node.op == DropoutMask) return read_mask(node);
        if (node.op == Where) return read_select(node);
        if (node.op == ReduceSum) return read_sum(node);
        if (node.op == Softmax) {
            const Place x = whole(node.inputs[0]);
            return x && along_rows(node) && add(node, {.does = RowStep::Does::softmax, .from = {x}});
        }
        return read_elements(node);
    }

    bool along_rows(const Node& node) const {
        const auto axis =
            graph::normalize_axis(node.integer("axis", -1), static_cast<std::int64_t>(dims_.size()));
        return axis.ok() && *axis + 1 == static_cast<std::int64_t>(dims_.size());
    }

    bool read_elements(const Node& node) {
        if (!is_whole(node.outputs[0])) return false;
        if (node.op == graph::op::Sum && node.inputs.size() > 2) return read_long_sum(node);
        for (const ValueId from : node.inputs) {
            const Place x = whole(from);
            const auto step = x ? as_step(task_, node, from) : std::nullopt;
            if (!step || step->function == Function::pow) continue;  // which has no vector code
            if (step->operand == ValueId::none) return add(node, {.element = *step, .from = {x}});
            if (const Place other = operand(step->operand))
                return add(node, {.element = *step, .from = {x, other}});
        }
        return false;
    }

    // The result may lie where the first operand does, but not where a later one waits.
    bool read_long_sum(const Node& node) {
        std::vector<Place> terms;
        for (const ValueId id : node.inputs)
            if (!terms.emplace_back(whole(id))) return false;
        const RowPlace to = made(node.outputs[0], row_bytes());
        drop(node);
        Place x = terms[0];
        for (std::size_t i = 1; i < terms.size(); ++i) {
            program_.steps.push_back({.element = {Function::add}, .from = {x, terms[i]}, .to = {to}});
            x = to;
        }
        return true;
    }

    bool read_select(const Node& node) {
        if (node.inputs.size() != 3 || !is_whole(node.outputs[0])) return false;
        const Place condition = whole(node.inputs[0], ElementType::boolean);
        const Place yes = operand(node.inputs[1]), no = operand(node.inputs[2]);
        if (!condition || !yes || !no) return false;
        RowStep step{.does = RowStep::Does::select, .from = {condition, yes, no}};
        step.to.push_back(made(node.outputs[0], row_bytes()));  // not over the condition, whose elements are
        drop(node);                                             // smaller
        program_.steps.push_back(std::move(step));
        return true;
    }

    bool read_mask(const Node& node) {
        if (program_.masks.size() == most_row_masks) return false;
        const auto work = mask_work(task_, node);
        if (!work || !is_whole(node.outputs[0], ElementType::boolean) || program_.n % 4 != 0) return false;
        program_.masks.push_back(*work);
        RowStep step{.does = RowStep::Does::draw, .mask = program_.masks.size() - 1};
        step.to.push_back(made(node.outputs[0], program_.n));
        program_.steps.push_back(std::move(step));
        return true;
    }

    // The number of the sum that goes to `id`; every reader of it is outside.
    std::optional<std::size_t> new_sum(ValueId id) {
        const auto fits = [&] {
            const auto count = graph::element_count(task_.dims(id));
            return task_.type(id).element == ElementType::f32 && count.ok() && *count == program_.n;
        };
        if (id != ValueId::none && (readers_[id] > 0 || !fits())) return std::nullopt;
        program_.sums.push_back(id == ValueId::none ? std::nullopt : output_index(task_, id));
        return program_.sums.size() - 1;
    }

    bool read_sum(const Node& node) {
        const Place x = whole(node.inputs[0]);
        const graph::Tensor* constant = task_.graph.constant(node.input(1));
        if (!x || constant == nullptr || node.integer("noop_with_empty_axes", 0) != 0) return false;
        Dims axes = constant->integers();
        for (std::int64_t& axis : axes) {
            const auto counted = graph::normalize_axis(axis, static_cast<std::int64_t>(dims_.size()));
            if (!counted.ok()) return false;
            axis = *counted;
        }
        std::ranges::sort(axes);
        Dims outer(dims_.size() - 1);
        for (std::size_t i = 0; i < outer.size(); ++i) outer[i] = static_cast<std::int64_t>(i);
        if (axes != outer) return false;
        const auto sum = new_sum(node.outputs[0]);
        if (!sum) return false;
        drop(node);
        program_.steps.push_back({.does = RowStep::Does::sum, .from = {x}, .sums = {*sum}});
        return true;
    }

    bool read_row_operator(const Node& node, RowOperator op) {
        using Does = RowStep::Does;
        const Place first = whole(node.inputs[0]);
        if (!first || !along_rows(node)) return false;
        if (op == RowOperator::forward) return read_normalization(node, first);
        const Place second = whole(node.input(1));
        if (!second) return false;
        if (op != RowOperator::scale_gradient && !is_whole(node.outputs[0])) return false;
        if (op == RowOperator::softmax_gradient)
            return add(node, {.does = Does::softmax_gradient, .from = {first, second}});
        const bool of_input = op == RowOperator::input_gradient;
        const Place scale = of_input ? row(node.input(2)) : Place();
        const Place mean = statistic(node.input(of_input ? 3 : 2)),
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

    bool read_normalization(const Node& node, const Place& x) {
        const Place scale = row(node.input(1));
        const bool shifted = node.input(2) != ValueId::none;
        const Place shift = shifted ? row(node.input(2)) : Place();
        if (!scale || (shifted && !shift) || !is_whole(node.outputs[0])) return false;
        RowStep step{.does = RowStep::Does::normalize,
                     .epsilon = static_cast<float>(node.get("epsilon", 1e-5)),
                     .from = {x, scale, shift}};
        drop(node);
        step.to.push_back(made(node.outputs[0], row_bytes()));
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
            const ValueId id = node.output(i);
            if (id != ValueId::none && !is_statistic(task_, id, program_.rows)) return false;
            step.to.push_back(made(id, size_of(ElementType::f32)));
        }
        program_.steps.push_back(std::move(step));
        return true;
    }

    const Task& task_;
    Dims dims_;
    RowProgram program_;
    std::map<ValueId, RowPlace> places_;  // of what the region makes
    std::map<ValueId, int> readers_;      // nodes of the region that still have to read it
    std::vector<std::size_t> free_;
};

}  // namespace

bool RowProgram::reads_whole(std::size_t i) const {
    bool whole = false, other = false;
    for (const RowStep& step : steps)
        for (const Place& place : step.from) {
            if (!place || place->in != RowPlace::In::input || place->index != i) continue;
            (place->step == n * size_of(ElementType::f32) ? whole : other) = true;
        }
    return whole && !other;
}

bool RowProgram::writes_whole(std::size_t i) const {
    return std::ranges::any_of(steps, [&](const RowStep& step) {
        return std::ranges::any_of(step.to, [&](const RowPlace& place) {
            return place.in == RowPlace::In::output && place.index == i &&
                   place.step == n * size_of(ElementType::f32);
        });
    });
}

void RowProgram::store(const plan::Choice& choice, bool last) {
    std::map<std::size_t, std::size_t> inputs, outputs;  // the scratch of each
    for (std::size_t i = 0; i < choice.inputs.size(); ++i)
        if (in_bf16(choice.inputs[i])) widened.emplace_back(i, inputs[i] = scratch++);
    for (std::size_t i = 0; i < choice.outputs.size(); ++i)
        if (in_bf16(choice.outputs[i]) || (last && writes_whole(i)))
            stored_last.emplace_back(i, outputs[i] = scratch++);
    const auto move = [&](RowPlace& place) {
        const bool input = place.in == RowPlace::In::input;
        if (!input && place.in != RowPlace::In::output) return;
        const auto& moved = input ? inputs : outputs;
        if (const auto found = moved.find(place.index); found != moved.end())
            place = {RowPlace::In::scratch, found->second, 0};
    };
    for (RowStep& step : steps) {
        for (Place& place : step.from)
            if (place) move(*place);
        std::ranges::for_each(step.to, move);
    }
}

std::optional<RowProgram> row_program(const Task& task) { return RowReader(task).read(); }

}  // namespace viridian::execute::cpu
