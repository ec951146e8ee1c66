// Element-wise operators on any numeric type, broadcasting on every side, one node at a time and row-major:
// arithmetic, comparison, logic, bits, Where, Cast. (Chains in f32 are simd:fused.)
#include <algorithm>
#include <array>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/numeric.hpp"
#include "viridian/execute/cpu/simd/elementwise/spread.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;
using simd::Change;
using simd::Operation;

constexpr std::string_view numeric_family_name = "simd:typed";
constexpr std::int64_t numeric_chunk = 512;

template <class What>
struct NumericNamed {
    graph::KnownOperator op;
    What what;
};
constexpr std::array operations = {
    NumericNamed{graph::op::Add, Operation::add},
    NumericNamed{graph::op::Sub, Operation::sub},
    NumericNamed{graph::op::Mul, Operation::mul},
    NumericNamed{graph::op::Div, Operation::div},
    NumericNamed{graph::op::Mod, Operation::mod},
    NumericNamed{graph::op::Pow, Operation::pow},
    NumericNamed{graph::op::Min, Operation::min},
    NumericNamed{graph::op::Max, Operation::max},
    NumericNamed{graph::op::Sum, Operation::add},
    NumericNamed{graph::op::Mean, Operation::add},
    NumericNamed{graph::op::PRelu, Operation::prelu},
    NumericNamed{graph::op::Equal, Operation::equal},
    NumericNamed{graph::op::Less, Operation::less},
    NumericNamed{graph::op::LessOrEqual, Operation::less_equal},
    NumericNamed{graph::op::Greater, Operation::greater},
    NumericNamed{graph::op::GreaterOrEqual, Operation::greater_equal},
    NumericNamed{graph::op::And, Operation::logical_and},
    NumericNamed{graph::op::Or, Operation::logical_or},
    NumericNamed{graph::op::Xor, Operation::logical_xor},
    NumericNamed{graph::op::BitwiseAnd, Operation::bit_and},
    NumericNamed{graph::op::BitwiseOr, Operation::bit_or},
    NumericNamed{graph::op::BitwiseXor, Operation::bit_xor},
    NumericNamed{graph::op::BitShift, Operation::shift_right},
};
constexpr std::array changes = {
    NumericNamed{graph::op::Neg, Change::neg},
    NumericNamed{graph::op::Abs, Change::abs},
    NumericNamed{graph::op::Sign, Change::sign},
    NumericNamed{graph::op::Not, Change::logical_not},
    NumericNamed{graph::op::IsNaN, Change::is_nan},
    NumericNamed{graph::op::IsInf, Change::is_infinite},
    NumericNamed{graph::op::BitwiseNot, Change::bit_not},
};

// What a node does: its operands folded from the left, or one of the other three.
struct Typed {
    enum class Kind : std::uint8_t { fold, change, select, cast } kind = Kind::fold;
    std::vector<ValueId> operands;
    std::vector<Operation> fold;  // one fewer than operands
    Change change = Change::neg;
    ElementType element = ElementType::f32;  // of the operands (of what is selected)
    ElementType compute = ElementType::f32;  // f16 and bf16 are widened
    ElementType result = ElementType::f32;
    bool mean = false;
};

ElementType widened(ElementType type) {
    return type == ElementType::f16 || type == ElementType::bf16 ? ElementType::f32 : type;
}

std::optional<Typed> what_of(const Node& node) {
    Typed typed;
    typed.operands = node.inputs;
    if (node.op == graph::op::Where) {
        typed.kind = Typed::Kind::select;
        return typed;
    }
    if (node.op == graph::op::Cast || node.op == graph::op::CastLike) {
        typed.kind = Typed::Kind::cast;
        typed.operands.resize(1);
        return typed;
    }
    if (node.op == graph::op::Clip) {
        typed.operands.resize(1);
        for (std::size_t i = 1; i < node.inputs.size(); ++i)
            if (node.inputs[i] != ValueId::none) {
                typed.operands.push_back(node.inputs[i]);
                typed.fold.push_back(i == 1 ? Operation::max : Operation::min);
            }
        return typed;
    }
    for (const auto& named : operations) {
        if (named.op != node.op) continue;
        Operation operation = named.what;
        if (node.op == graph::op::Mod && node.integer("fmod", 0) != 0) operation = Operation::fmod;
        if (node.op == graph::op::BitShift && node.get("direction", std::string()) == "LEFT")
            operation = Operation::shift_left;
        typed.fold.assign(node.inputs.size() - 1, operation);
        typed.mean = node.op == graph::op::Mean;
        return typed;
    }
    for (const auto& named : changes) {
        if (named.op != node.op) continue;
        typed.kind = Typed::Kind::change;
        typed.change = named.what;
        if (node.op == graph::op::IsInf) {
            const bool up = node.integer("detect_positive", 1) != 0;
            const bool down = node.integer("detect_negative", 1) != 0;
            if (!up && !down) return std::nullopt;
            if (!down) typed.change = Change::is_positive_infinite;
            if (!up) typed.change = Change::is_negative_infinite;
        }
        return typed;
    }
    return std::nullopt;
}

std::optional<Typed> typed_of(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.op.domain().empty() || node.inputs.empty())
        return std::nullopt;
    auto typed = what_of(node);
    if (!typed || std::ranges::count(typed->operands, ValueId::none) > 0) return std::nullopt;
    const bool select = typed->kind == Typed::Kind::select;
    typed->element = task.type(typed->operands[select ? 1 : 0]).element;
    typed->compute = widened(typed->element);
    typed->result = task.type(node.outputs[0]).element;
    for (std::size_t i = select ? 1 : 0; i < typed->operands.size(); ++i)
        if (task.type(typed->operands[i]).element != typed->element) return std::nullopt;
    if (select && task.type(typed->operands[0]).element != ElementType::boolean) return std::nullopt;
    for (const Operation operation : typed->fold)
        if (!simd::has_loop(operation, typed->compute)) return std::nullopt;
    if (typed->mean && typed->compute != ElementType::f32) return std::nullopt;
    if (typed->kind == Typed::Kind::change && !simd::has_loop(typed->change, typed->compute))
        return std::nullopt;
    return typed;
}

std::vector<plan::Choice> offers_numeric(const Task& task) {
    const auto typed = typed_of(task);
    if (!typed) return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(numeric_family_name))};
    const Dims dims = task.dims(task.node().outputs[0]);
    if (typed->element == ElementType::f32)
        offer_widened(task, [&](std::size_t i) { return task.dims(task.region.inputs[i]) == dims; }, choices);
    return choices;
}

// Where an operand's elements come from.
struct NumericOperand {
    std::size_t index = 0;  // of the inputs, or of the constants
    bool constant = false;
    std::int64_t size = 4;
    bool bf16 = false;  // an f32 operand of full size that the choice stores in bf16
    simd::Spread spread;

    const std::byte* chunk(const Pointers& pointers, std::int64_t first, std::int64_t n,
                           std::byte* scratch) const {
        const std::byte* data = constant ? pointers.constants[index] : pointers.inputs[index];
        if (bf16) {
            simd::widen(reinterpret_cast<const std::uint16_t*>(data) + first,
                        reinterpret_cast<float*>(scratch), n);
            return scratch;
        }
        const auto take = [&](auto word) {
            using Word = decltype(word);
            return reinterpret_cast<const std::byte*>(spread.chunk(reinterpret_cast<const Word*>(data), first,
                                                                   n, reinterpret_cast<Word*>(scratch)));
        };
        if (size == 8) return take(std::uint64_t{});
        if (size == 4) return take(std::uint32_t{});
        if (size == 2) return take(std::uint16_t{});
        return take(std::uint8_t{});
    }
};

struct NumericWork {
    Typed typed;
    std::vector<NumericOperand> sources;
    bool rounds = false;  // the result, in f32, is stored in bf16

    // Elements [first, first + n) of the result.
    void run(const Pointers& pointers, std::int64_t first, std::int64_t n) const {
        if (!rounds)
            return make(pointers, first, n, pointers.outputs[0] + first * graph::size_of(typed.result));
        alignas(64) float made[numeric_chunk];
        make(pointers, first, n, reinterpret_cast<std::byte*>(made));
        simd::narrow(made, reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + first, n);
    }

    // Makes these elements in the type of the result, into `to`.
    void make(const Pointers& pointers, std::int64_t first, std::int64_t n, std::byte* to) const {
        alignas(64) std::byte scratch[3][numeric_chunk * 8];
        alignas(64) std::byte wide[2][numeric_chunk * 8];
        if (typed.kind == Typed::Kind::select) {
            const std::byte* operands[3];
            for (std::size_t i = 0; i < 3; ++i)
                operands[i] = sources[i].chunk(pointers, first, n, scratch[i]);
            return simd::select(graph::size_of(typed.element), operands[0], operands[1], operands[2], to, n);
        }
        const auto operand = [&](std::size_t i, std::size_t slot) {
            const std::byte* data = sources[i].chunk(pointers, first, n, scratch[slot]);
            if (typed.element == typed.compute) return data;
            simd::cast(typed.element, data, typed.compute, wide[slot], n);
            return static_cast<const std::byte*>(wide[slot]);
        };
        if (typed.kind == Typed::Kind::cast)
            return simd::cast(typed.element, sources[0].chunk(pointers, first, n, scratch[0]), typed.result,
                              to, n);
        const std::byte* value = operand(0, 0);
        const bool narrow = typed.result != typed.compute && typed.result == typed.element;
        // A later operand may lie where the result goes (plan::Choice).
        std::byte* made = narrow || typed.fold.size() > 1 ? scratch[2] : to;
        if (typed.kind == Typed::Kind::change) {
            simd::apply(typed.change, typed.compute, value, made, n);
            value = made;
        }
        for (std::size_t i = 0; i < typed.fold.size(); ++i) {
            simd::apply(typed.fold[i], typed.compute, value, operand(i + 1, 1), made, n);
            value = made;
        }
        if (typed.mean) {
            const auto count = static_cast<float>(typed.operands.size());
            const auto* sums = reinterpret_cast<const float*>(value);
            for (std::int64_t i = 0; i < n; ++i) reinterpret_cast<float*>(made)[i] = sums[i] / count;
            value = made;
        }
        if (narrow)
            simd::cast(typed.compute, value, typed.result, to, n);
        else if (value != to)
            std::copy_n(value, n * graph::size_of(typed.result), to);
    }
};

Result<Kernel> prepare_numeric(const Task& task, const plan::Choice& choice) {
    auto typed = typed_of(task);
    if (!typed) return unknown_kernel(choice);
    Kernel kernel;
    const Dims dims = task.dims(task.node().outputs[0]);
    const bool rounds = choice.outputs[0].element != typed->result;
    NumericWork work{*std::move(typed), {}, rounds};
    for (const ValueId id : work.typed.operands) {
        auto spread = simd::Spread::make(task.dims(id), dims, plan::plain(dims.size()));
        if (!spread) return unknown_kernel(choice);
        const auto input = task.input_index(id);
        work.sources.push_back(
            {input ? *input : kernel.constants.size(), !input, graph::size_of(task.type(id).element),
             input && choice.inputs[*input].element != task.type(id).element, *std::move(spread)});
        if (!input) kernel.constants.push_back(plain_constant(task, id));
    }
    std::int64_t count = 1;
    for (const std::int64_t dimension : dims) count *= dimension;
    kernel.run = [work = std::move(work), count, threads = task.context.threads](const Pointers& pointers) {
        const std::int64_t chunks = (count + numeric_chunk - 1) / numeric_chunk;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c)
                work.run(pointers, c * numeric_chunk, std::min(numeric_chunk, count - c * numeric_chunk));
        };
        if (chunks < 16) return work_on(0, chunks);
        in_shares(threads, chunks, work_on);
    };
    return kernel;
}

}  // namespace

Family numeric_family() { return {numeric_family_name, offers_numeric, prepare_numeric}; }

}  // namespace viridian::execute::cpu
