#pragma once
// Single numbers that a program computes before its elements: learning rates and bias corrections, for
// example.
#include <utility>
#include <vector>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// One step on single numbers: values[to] = op(values[a], values[b]), rounded to f32 if `rounds`.
struct NumberStep {
    enum class Op : std::uint8_t { copy, add, sub, mul, div, pow, sqrt, neg, min, max } op = Op::copy;
    std::size_t to = 0, a = 0, b = 0;
    bool rounds = true;
};

struct Numbers {
    std::vector<double> values;                              // before the steps: constants, and 0 for others
    std::vector<std::pair<std::size_t, std::size_t>> given;  // number, region input that holds it (f32)
    std::vector<NumberStep> steps;
    std::vector<std::size_t> read;  // numbers that elements are combined with

    // Appends a number, and returns its position.
    std::size_t add(double value);
    // Returns the position in `read` of number `number`, which is appended if it is not there yet.
    std::size_t reader_of(std::size_t number);
    // Computes all numbers of one run into `to`, which has room for `values`.
    void compute(const Pointers& pointers, double* to) const;
};

// Returns the operation of a node on single numbers, or nothing if it is none of these.
[[nodiscard]] std::optional<NumberStep::Op> number_operation(const graph::Node& node);

}  // namespace viridian::execute::cpu
