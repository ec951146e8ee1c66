#include "viridian/execute/cpu/kernels/bodies/element_program.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "viridian/execute/cpu/kernels/bodies/meaning.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::ValueId;

constexpr std::size_t most_scratch = 12;  // chunks of scratch; element_kernel.cpp says how large they are
constexpr std::size_t most_scalars = 12;

constexpr std::pair<graph::KnownOperator, NumberStep::Op> number_operators[] = {
    {graph::op::Identity, NumberStep::Op::copy}, {graph::op::Cast, NumberStep::Op::copy},
    {graph::op::Add, NumberStep::Op::add},       {graph::op::Sub, NumberStep::Op::sub},
    {graph::op::Mul, NumberStep::Op::mul},       {graph::op::Div, NumberStep::Op::div},
    {graph::op::Pow, NumberStep::Op::pow},       {graph::op::Sqrt, NumberStep::Op::sqrt},
    {graph::op::Neg, NumberStep::Op::neg},       {graph::op::Min, NumberStep::Op::min},
    {graph::op::Max, NumberStep::Op::max},
};

bool is_real(ElementType type) { return type == ElementType::f32 || type == ElementType::f64; }

class ProgramReader {
  public:
    ProgramReader(const Context& context, const Graph& graph, Dims dims)
        : graph_(graph), dims_(std::move(dims)), task_{context, graph, no_region_} {}

    std::optional<ElementProgram> read() {
        const auto count = graph::element_count(dims_);
        const auto order = topological_order(graph_);
        if (!count.ok() || *count == 0 || !order.ok()) return std::nullopt;
        program_.count = *count;
        for (std::size_t i = 0; i < graph_.inputs().size(); ++i) {
            const ValueId id = graph_.inputs()[i];
            if (is_whole(id)) {
                slots_[id] = {Slot::In::input, i};
            } else if (is_number(id) && type(id).element == ElementType::f32) {
                program_.given.emplace_back(new_number(id), i);
            } else {
                return std::nullopt;
            }
        }
        count_readers();
        for (const graph::NodeId id : *order)
            if (!read(graph_.node(id))) return std::nullopt;
        for (const ValueId id : graph_.outputs()) {
            const auto slot = slots_.find(id);
            if (slot == slots_.end()) return std::nullopt;
            // One output may lie where another still has to be read from.
            if (slot->second.in == Slot::In::input && graph_.outputs().size() > 1) return std::nullopt;
            program_.outputs.push_back(slot->second);
        }
        if (program_.scratch > most_scratch || program_.scalars.size() > most_scalars) return std::nullopt;
        return std::move(program_);
    }

  private:
    [[nodiscard]] const graph::TensorType& type(ValueId id) const { return graph_.value(id).type; }
    [[nodiscard]] bool is_whole(ValueId id) const {
        return type(id).element == ElementType::f32 && type(id).dims() == dims_;
    }
    [[nodiscard]] bool is_number(ValueId id) const {
        const auto count = graph::element_count(type(id).dims());
        return is_real(type(id).element) && count.ok() && *count == 1;
    }

    void count_readers() {
        const graph::Uses uses = graph::uses(graph_);
        for (std::size_t i = 0; i < graph_.value_count(); ++i)
            left_[static_cast<ValueId>(i)] = uses.count(static_cast<ValueId>(i));
    }

    bool read(const Node& node) {
        if (node.outputs.size() != 1 || node.inputs.empty() || !node.op.domain().empty()) return false;
        if (std::ranges::count(node.inputs, ValueId::none) > 0) return false;
        const ValueId result = node.outputs[0];
        const auto whole = [&](ValueId id) { return slots_.contains(id); };
        if (std::ranges::none_of(node.inputs, whole)) return read_number(node, result);
        if (!is_whole(result)) return false;
        if (node.op == graph::op::Identity || node.op == graph::op::Cast) {
            const ValueId root = root_of(node.inputs[0]);
            slots_[result] = slots_.at(root);
            left_[root] += left_[result];  // its place is freed only when both are read
            alias_[result] = root;
            return drop(root);
        }
        for (const ValueId from : node.inputs) {
            if (!whole(from)) continue;
            const auto step = as_step(task_, node, from);
            if (!step || step->function == Function::pow) continue;
            ChunkStep made{*step, 0, slots_.at(from), {}};
            if (step->operand != ValueId::none) {
                const auto operand = operand_slot(step->operand);
                if (!operand) continue;
                made.operand = *operand;
            }
            for (const ValueId input : node.inputs) drop(input);
            made.to = take_scratch();
            slots_[result] = {Slot::In::scratch, made.to};
            program_.steps.push_back(made);
            return true;
        }
        return false;
    }

    // An operand that is whole, or a number that every chunk reads.
    std::optional<Slot> operand_slot(ValueId id) {
        if (const auto slot = slots_.find(id); slot != slots_.end()) return slot->second;
        const auto number = number_of(id);
        if (!number) return std::nullopt;
        const auto at = std::ranges::find(program_.scalars, *number);
        const auto index = static_cast<std::size_t>(at - program_.scalars.begin());
        if (at == program_.scalars.end()) program_.scalars.push_back(*number);
        return Slot{Slot::In::scalar, index};
    }

    bool read_number(const Node& node, ValueId result) {
        const auto op =
            std::ranges::find_if(number_operators, [&](const auto& each) { return each.first == node.op; });
        if (op == std::end(number_operators) || !is_number(result) || node.inputs.size() > 2) return false;
        NumberStep step{op->second, 0, 0, 0, type(result).element == ElementType::f32};
        const bool binary = node.inputs.size() == 2;
        const auto a = number_of(node.inputs[0]);
        const auto b = binary ? number_of(node.inputs[1]) : a;
        const bool one = step.op == NumberStep::Op::copy || step.op == NumberStep::Op::sqrt ||
                         step.op == NumberStep::Op::neg;
        if (!a || !b || one == binary) return false;
        step.a = *a;
        step.b = *b;
        step.to = new_number(result);
        program_.number_steps.push_back(step);
        return true;
    }

    std::size_t new_number(ValueId id) {
        program_.numbers.push_back(0);
        return numbers_[id] = program_.numbers.size() - 1;
    }
    std::optional<std::size_t> number_of(ValueId id) {
        if (const auto found = numbers_.find(id); found != numbers_.end()) return found->second;
        const graph::Tensor* constant = graph_.constant(id);
        if (constant == nullptr || !is_number(id)) return std::nullopt;
        const std::size_t made = new_number(id);
        program_.numbers[made] = constant->number(0);
        return made;
    }

    std::size_t take_scratch() {
        if (free_.empty()) return program_.scratch++;
        const std::size_t taken = free_.back();
        free_.pop_back();
        return taken;
    }
    // The value that `id` is a second name of, or `id` itself.
    [[nodiscard]] ValueId root_of(ValueId id) const {
        const auto found = alias_.find(id);
        return found == alias_.end() ? id : found->second;
    }
    // Counts one reader of a value as done; its scratch is free after the last.
    bool drop(ValueId id) {
        id = root_of(id);
        const auto slot = slots_.find(id);
        if (slot == slots_.end()) return true;
        if (--left_[id] == 0 && slot->second.in == Slot::In::scratch) free_.push_back(slot->second.index);
        return true;
    }

    const Graph& graph_;
    const Dims dims_;
    const plan::Region no_region_;
    const Task task_;
    ElementProgram program_;
    std::map<ValueId, Slot> slots_;           // whole values
    std::map<ValueId, std::size_t> numbers_;  // single numbers
    std::map<ValueId, std::size_t> left_;     // readers to come
    std::map<ValueId, ValueId> alias_;        // second names, and the values that they name
    std::vector<std::size_t> free_;
};

}  // namespace

std::optional<ElementProgram> element_program(const Task& task) {
    const auto meaning = meaning_of(task);
    if (!meaning || meaning->outputs().empty()) return std::nullopt;
    const Dims dims = meaning->value(meaning->outputs()[0]).type.dims();
    for (const ValueId id : meaning->outputs()) {
        const graph::TensorType& type = meaning->value(id).type;
        if (type.element != ElementType::f32 || type.dims() != dims) return std::nullopt;
    }
    return ProgramReader(task.context, *meaning, dims).read();
}

}  // namespace viridian::execute::cpu
