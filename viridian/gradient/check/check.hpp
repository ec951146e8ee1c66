#pragma once
// Checks gradient rules on random graphs against the definition of the gradient, without a second
// implementation of it. An operator that is linear in each of its inputs by itself is checked exactly, over
// the prime field, where a finite difference of a multilinear map has no error. All others are checked in
// double precision along random directions, by central differences with three steps and Richardson
// extrapolation (Richardson 1911), to a relative error of 1e-7.
#include "viridian/gradient/rule.hpp"

namespace viridian::gradient {

// A Question is a graph whose gradients are checked: its inputs, then one seed input for each output. The
// answers are its outputs: the original outputs, then one gradient for each original input.
struct Question {
    graph::Graph graph;
    std::size_t inputs = 0;       // of the original graph
    std::size_t outputs = 0;      // of the original graph
    std::size_t first_new = 0;    // nodes from this one on compute gradients
    std::vector<Domain> domains;  // of the inputs
};

// Makes the question of an instance: adds seeds and differentiates. An input without a gradient gets zeros.
// Errors: those of differentiate().
[[nodiscard]] Result<Question> ask(Instance& instance);

// Makes the question of the instance that `rule` builds from `seed`.
[[nodiscard]] Result<Question> ask(const Rule& rule, std::uint64_t seed);

// Compares the gradients that `question` computes with differences of its outputs, on the random inputs and
// directions of `seed`. Errors: not_equal with the relative error and the input; those of evaluation.
[[nodiscard]] Result<void> check(const Question& question, Rule::Form form, std::uint64_t seed);

// A Mutant is a question whose gradients are wrong in one place: a sign, a term, an axis, a constant.
struct Mutant {
    Question question;
    std::string change;  // which node of its operator, and what changed: "Mul 2: Div instead"
};
// Returns the mutants of the nodes that compute gradients, also of those inside the bodies of private
// operators. Left out are changes after which a value has no type or another one, and changes that leave the
// gradients as they are for a reason that is known beforehand, as at a sum over axes of extent 1. `untyped`
// gets the former, if it is given.
[[nodiscard]] std::vector<Mutant> mutants(const Question& question,
                                          std::vector<std::string>* untyped = nullptr);

}  // namespace viridian::gradient
