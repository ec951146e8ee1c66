#pragma once
// A gradient rule says how the gradients of an operator's outputs give those of its inputs (reverse-mode
// differentiation; Griewank and Walther, "Evaluating Derivatives", 2008, chapter 3). The rules of a family
// stand in rules/<family>.cpp, and rules.cpp lists the families.
#include <span>
#include <string_view>

#include "viridian/gradient/check/instance.hpp"
#include "viridian/gradient/term.hpp"

namespace viridian::gradient {

// A Site is one node that is being differentiated, as its rule sees it. Inputs are x(0), x(1), …, outputs
// y(0), y(1), …, and g(i) is the gradient of the loss with respect to y(i), of the same dimensions.
class Site {
  public:
    Site(Builder& builder, NodeId id, std::span<const ValueId> gradients, std::vector<bool> wanted);

    Builder& b;
    [[nodiscard]] const Node& node() const { return b.graph().node(id_); }
    [[nodiscard]] Term x(std::size_t i = 0) const { return {&b, node().input(i)}; }
    [[nodiscard]] Term y(std::size_t i = 0) const { return {&b, node().output(i)}; }
    // Returns nothing if no gradient arrives at output i. At least one output has one.
    [[nodiscard]] Term g(std::size_t i = 0) const {
        return i < gradients_.size() ? Term{&b, gradients_[i]} : Term();
    }
    // Returns whether the gradient of input i is asked for. A rule may return others too; they are dropped.
    [[nodiscard]] bool wants(std::size_t i) const { return i < wanted_.size() && wanted_[i]; }
    // Returns output i, which the node gets if it does not have it yet.
    [[nodiscard]] Term output(std::size_t i, std::string_view name);
    // Makes the node one of a private operator that gives the same outputs, and more. Its inputs stay.
    void become(graph::KnownOperator op, Attributes attributes, const Meaning& meaning);

    [[nodiscard]] const Dims& dims(Term term) const { return b.dims(term); }
    [[nodiscard]] std::int64_t rank(Term term) const { return b.rank(term); }
    [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
        return node().integer(key, otherwise);
    }
    [[nodiscard]] double real(std::string_view key, double otherwise) const {
        return node().get(key, otherwise);
    }
    // Returns `axis` of a tensor of this rank as a number from 0 on.
    [[nodiscard]] static std::int64_t axis(std::int64_t axis, std::int64_t rank) {
        return axis < 0 ? axis + rank : axis;
    }
    // Returns the integers of constant input i. Refuses if it is not constant.
    [[nodiscard]] Dims integers(std::size_t i, std::string_view what) const;
    // Ends the rule: this node cannot be differentiated, for a reason that follows "because".
    [[noreturn]] void refuse(std::string_view reason) const;

  private:
    NodeId id_;
    std::span<const ValueId> gradients_;
    std::vector<bool> wanted_;
};

// A Rule has its equation in the code of `apply`; the text is for people. Every rule is checked on the random
// graphs that `instance` makes (check/check.hpp).
struct Rule {
    graph::KnownOperator op;
    std::string_view equation;  // "dx = g · (1 − y²)"
    // How the result depends on each input by itself: multilinear operators are checked exactly.
    enum class Form : std::uint8_t { multilinear, smooth, piecewise } form = Form::smooth;
    // Returns a gradient for each input, or nothing (a Term without a value) if it is zero or not wanted. May
    // return fewer than there are inputs.
    std::vector<Term> (*apply)(Site& site) = nullptr;
    // Adds the operator to a random graph, with odd and unequal extents and random attributes, and its
    // outputs to the instance.
    std::function<void(Instance& instance)> instance = nullptr;
};

// Returns the rule of an operator, or null.
[[nodiscard]] const Rule* find_rule(const graph::Operator& op);
// Returns every rule, family by family.
[[nodiscard]] const std::vector<Rule>& all_rules();

// A NoGradient says why an operator has no rule: nothing is lost, because its gradient is zero wherever it
// exists, or it cannot be differentiated here.
struct NoGradient {
    std::string_view op;
    bool zero;                // no gradient flows, and nothing is lost: Shape, Equal, Floor
    std::string_view reason;  // follows "because"
};
// Returns the reason that is listed for the operator, or null.
[[nodiscard]] const NoGradient* find_no_gradient(const graph::Operator& op);

}  // namespace viridian::gradient
