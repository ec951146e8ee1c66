#include "viridian/execute/cpu/kernels/fused/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::pair<graph::KnownOperator, NumberStep::Op> number_operators[] = {
    {graph::op::Identity, NumberStep::Op::copy}, {graph::op::Cast, NumberStep::Op::copy},
    {graph::op::Add, NumberStep::Op::add},       {graph::op::Sub, NumberStep::Op::sub},
    {graph::op::Mul, NumberStep::Op::mul},       {graph::op::Div, NumberStep::Op::div},
    {graph::op::Pow, NumberStep::Op::pow},       {graph::op::Sqrt, NumberStep::Op::sqrt},
    {graph::op::Neg, NumberStep::Op::neg},       {graph::op::Min, NumberStep::Op::min},
    {graph::op::Max, NumberStep::Op::max},
};

double result_of(NumberStep::Op op, double a, double b) {
    switch (op) {
        case NumberStep::Op::copy:
            return a;
        case NumberStep::Op::add:
            return a + b;
        case NumberStep::Op::sub:
            return a - b;
        case NumberStep::Op::mul:
            return a * b;
        case NumberStep::Op::div:
            return a / b;
        case NumberStep::Op::pow:
            return std::pow(a, b);
        case NumberStep::Op::sqrt:
            return std::sqrt(a);
        case NumberStep::Op::neg:
            return -a;
        case NumberStep::Op::min:
            return graph::lesser(a, b);
        case NumberStep::Op::max:
            return graph::greater(a, b);
    }
    return a;
}

bool has_one_operand(NumberStep::Op op) {
    return op == NumberStep::Op::copy || op == NumberStep::Op::sqrt || op == NumberStep::Op::neg;
}

}  // namespace

std::size_t Numbers::add(double value) {
    values.push_back(value);
    return values.size() - 1;
}

std::size_t Numbers::reader_of(std::size_t number) {
    const auto at = std::ranges::find(read, number);
    const auto index = static_cast<std::size_t>(at - read.begin());
    if (at == read.end()) read.push_back(number);
    return index;
}

void Numbers::compute(const Pointers& pointers, double* to) const {
    std::ranges::copy(values, to);
    for (const auto& [number, input] : given)
        to[number] = static_cast<double>(*reinterpret_cast<const float*>(pointers.inputs[input]));
    for (const NumberStep& step : steps) {
        const double made = result_of(step.op, to[step.a], to[step.b]);
        to[step.to] = step.rounds ? static_cast<double>(static_cast<float>(made)) : made;
    }
}

std::optional<NumberStep::Op> number_operation(const graph::Node& node) {
    const auto* const found =
        std::ranges::find_if(number_operators, [&](const auto& each) { return each.first == node.op; });
    if (found == std::end(number_operators)) return std::nullopt;
    const std::size_t operands = has_one_operand(found->second) ? 1 : 2;
    if (node.inputs.size() != operands || node.outputs.size() != 1) return std::nullopt;
    return found->second;
}

}  // namespace viridian::execute::cpu
