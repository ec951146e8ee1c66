#include "viridian/execute/cpu/kernels/fused/program_values.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/execute/cpu/kernels/fused/row_operator.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;

constexpr std::size_t most_numbers = 12;

// Returns the axis from which on a node reads the elements of a row together; nothing if it reads them one by
// one.
std::optional<std::int64_t> row_axis(const Node& node) {
    if (row_operator(node) || node.op == graph::op::Softmax || node.op == graph::op::LogSoftmax)
        return node.integer("axis", -1);
    const bool needs_rows =
        node.op == graph::op::DropoutMask || node.op == graph::op::Where || node.op == graph::op::ReduceSum;
    return needs_rows ? std::optional<std::int64_t>(-1) : std::nullopt;
}

}  // namespace

ProgramValues::ProgramValues(const Task& task, const plan::Layout* layout) : task_(task) {
    if (layout != nullptr) layout_ = *layout;
}

bool ProgramValues::find_shape() {
    std::int64_t most = 0;
    const auto consider = [&](ValueId id) {
        if (id == ValueId::none || task_.type(id).element != ElementType::f32) return;
        const auto count = graph::element_count(task_.dims(id));
        if (!count.ok() || *count < most) return;
        if (*count == most && task_.dims(id).size() <= dims().size()) return;
        most = *count;
        program_.dims = task_.dims(id);
    };
    std::ranges::for_each(task_.region.outputs, consider);
    for (const graph::NodeId id : task_.region.nodes) {
        std::ranges::for_each(task_.graph.node(id).outputs, consider);
        std::ranges::for_each(task_.graph.node(id).inputs, consider);
    }
    return most > 0;
}

bool ProgramValues::find_rows() {
    const auto rank = static_cast<std::int64_t>(dims().size());
    axis_ = rank - 1;
    bool first = true;
    for (const graph::NodeId id : task_.region.nodes) {
        const auto from = row_axis(task_.graph.node(id));
        if (!from) continue;
        const auto axis = graph::normalize_axis(*from, rank);
        if (!axis.ok() || (!first && *axis != axis_)) return false;
        axis_ = *axis;
        first = false;
    }
    program_.in_rows = !first;
    if (!layout_) layout_ = plan::plain(dims().size());
    if (!program_.in_rows) {
        program_.count = plan::padded_elements(*layout_, dims());
        return true;
    }
    if (*layout_ != plan::plain(dims().size())) return false;
    const auto product = [](auto from, auto to) {
        return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
    };
    const auto middle = dims().begin() + axis_;
    program_.n = product(middle, dims().end());
    rows_ = product(dims().begin(), middle);
    program_.count = rows_ * program_.n;
    return true;
}

bool ProgramValues::is_whole(ValueId id, ElementType element) const {
    return id != ValueId::none && task_.type(id).element == element && task_.dims(id) == dims();
}

ProgramValues::MaybePlace ProgramValues::whole(ValueId id, ElementType element) const {
    if (!is_whole(id, element)) return std::nullopt;
    if (const auto made = places_.find(id); made != places_.end()) return made->second;
    if (const auto input = task_.input_index(id))
        return ProgramPlace{ProgramPlace::In::input, *input, size_of(element)};
    return std::nullopt;
}

// Where a tensor lies that is not whole: among the inputs, or the constants.
ProgramValues::MaybePlace ProgramValues::outside(ValueId id) {
    if (const auto input = task_.input_index(id)) return ProgramPlace{ProgramPlace::In::input, *input};
    if (task_.graph.constant(id) == nullptr) return std::nullopt;
    program_.constants.push_back(plain_constant(task_, id));
    return ProgramPlace{ProgramPlace::In::constant, program_.constants.size() - 1};
}

ProgramValues::MaybePlace ProgramValues::row(ValueId id) {
    if (!program_.in_rows || !is_row(task_, id, dims(), static_cast<std::size_t>(axis_))) return std::nullopt;
    return outside(id);
}

ProgramValues::MaybePlace ProgramValues::statistic(ValueId id) const {
    if (!is_statistic(task_, id, rows_)) return std::nullopt;
    if (const auto made = places_.find(id); made != places_.end()) return made->second;
    const auto input = task_.input_index(id);
    if (!input) return std::nullopt;
    return ProgramPlace{ProgramPlace::In::input, *input, 0, float_bytes};
}

std::optional<std::size_t> ProgramValues::number_of(ValueId id) {
    if (const auto found = numbers_.find(id); found != numbers_.end()) return found->second;
    const ElementType type = task_.type(id).element;
    const auto count = graph::element_count(task_.dims(id));
    if (!count.ok() || *count != 1 || (type != ElementType::f32 && type != ElementType::f64))
        return std::nullopt;
    if (const graph::Tensor* constant = task_.graph.constant(id))
        return numbers_[id] = program_.numbers.add(constant->number(0));
    const auto input = task_.input_index(id);
    if (!input || type != ElementType::f32) return std::nullopt;
    const std::size_t number = program_.numbers.add(0);
    program_.numbers.given.emplace_back(number, *input);
    return numbers_[id] = number;
}

ProgramValues::MaybePlace ProgramValues::number(ValueId id) {
    const auto number = number_of(id);
    if (!number) return std::nullopt;
    const auto& read = program_.numbers.read;
    if (read.size() == most_numbers && std::ranges::find(read, *number) == read.end()) return std::nullopt;
    return ProgramPlace{ProgramPlace::In::number, program_.numbers.reader_of(*number)};
}

ProgramValues::MaybePlace ProgramValues::broadcast(ValueId id) {
    if (task_.type(id).element != ElementType::f32 || places_.contains(id)) return std::nullopt;
    auto spread = simd::Spread::make(task_.dims(id), dims(), *layout_);
    if (!spread) return std::nullopt;
    const MaybePlace from = outside(id);
    if (!from) return std::nullopt;
    program_.broadcasts.push_back({*std::move(spread), *from});
    return ProgramPlace{ProgramPlace::In::spread, program_.broadcasts.size() - 1};
}

ProgramValues::MaybePlace ProgramValues::operand(ValueId id) {
    if (const MaybePlace place = whole(id)) return place;
    if (const MaybePlace place = row(id)) return place;
    if (const MaybePlace place = number(id)) return place;
    return broadcast(id);
}

// The value that `id` is a second name of, or `id` itself.
ValueId ProgramValues::root_of(ValueId id) const {
    const auto found = alias_.find(id);
    return found == alias_.end() ? id : found->second;
}

void ProgramValues::drop(const Node& node) {
    for (const ValueId input : node.inputs) {
        const ValueId id = root_of(input);
        const auto place = places_.find(id);
        if (place != places_.end() && --readers_[id] == 0 && place->second.in == ProgramPlace::In::scratch)
            free_.push_back(place->second.index);
    }
}

ProgramPlace ProgramValues::made(ValueId id, ProgramPlace there) {
    if (id != ValueId::none)
        if (const auto output = output_index(task_, id)) {
            there.in = ProgramPlace::In::output;
            there.index = *output;
            return places_[id] = there;
        }
    std::size_t index = program_.scratch;
    if (free_.empty())
        ++program_.scratch;
    else
        index = free_.back(), free_.pop_back();
    const ProgramPlace place{ProgramPlace::In::scratch, index};
    if (id == ValueId::none || readers_[id] == 0)
        free_.push_back(index);
    else
        places_[id] = place;
    return place;
}

std::optional<std::size_t> ProgramValues::new_sum(ValueId id) {
    const auto fits = [&] {
        const auto count = graph::element_count(task_.dims(id));
        return task_.type(id).element == ElementType::f32 && count.ok() && *count == program_.n;
    };
    if (id != ValueId::none && (readers_[id] > 0 || !fits())) return std::nullopt;
    program_.sums.push_back(id == ValueId::none ? std::nullopt : output_index(task_, id));
    return program_.sums.size() - 1;
}

void ProgramValues::name_again(ValueId id, ValueId name, const ProgramPlace& place) {
    const ValueId root = root_of(id);
    readers_[root] += readers_[name];  // its scratch is free only when both are read
    alias_[name] = root;
    places_[name] = place;
}

}  // namespace viridian::execute::cpu
