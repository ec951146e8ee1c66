#pragma once
// Terms let gradient rules read as equations: `g * (1.0 - y * y)` adds the nodes that compute it to the graph
// under construction, with their types. All extents are known numbers, because a training step is made for
// one batch size.
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

namespace op = graph::op;
using graph::Attributes;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

class Builder;

// A Term is a value of the graph that a builder adds to. A term without a builder stands for "nothing", for
// example a gradient that does not arrive.
struct Term {
    Builder* builder = nullptr;
    ValueId id = ValueId::none;
    explicit operator bool() const { return id != ValueId::none; }
};

// A Refusal is thrown inside this room if something cannot be differentiated or typed. The functions that
// other rooms call catch it and return its error.
struct Refusal {
    Error error;
};

// Meaning builds the body of a private operator, which says in standard operators what the node means. It
// takes the body's inputs and returns its outputs.
using Meaning = std::function<std::vector<Term>(Builder& body, const std::vector<Term>& inputs)>;

class Builder {
  public:
    // Adds to `graph`, which outlives the builder.
    explicit Builder(Graph& graph) : graph_(graph) {}

    [[nodiscard]] Graph& graph() { return graph_; }
    // Names the forward node that the next nodes belong to: they get its origin, are named after it, and know
    // it as their twin. They are of this phase. Without a forward node they have none of the three.
    void at(const Node* forward, graph::Phase phase);

    // Adds a node with one output, or with several, and infers their types. Throws Refusal if a shape rule
    // refuses the inputs.
    Term add(graph::Operator op, const std::vector<Term>& inputs, Attributes attributes = {});
    std::vector<Term> add(graph::Operator op, const std::vector<Term>& inputs, Attributes attributes,
                          std::size_t outputs);
    // Adds a node of a private operator, whose body `meaning` builds for inputs of these types.
    std::vector<Term> call(graph::KnownOperator op, const std::vector<Term>& inputs, Attributes attributes,
                           const Meaning& meaning);

    // Returns the body that `meaning` builds for inputs of these types.
    [[nodiscard]] std::shared_ptr<const Graph> body(graph::KnownOperator op, const std::vector<Term>& inputs,
                                                    const Meaning& meaning) const;

    [[nodiscard]] Term value(ValueId id) { return {this, id}; }
    Term number(double value, Term like);  // a constant of rank 0 of like's element type
    Term integers(const Dims& values);     // a constant i64 vector
    Term constant(Tensor tensor);

    [[nodiscard]] const Dims& dims(Term term);
    [[nodiscard]] std::int64_t rank(Term term) { return static_cast<std::int64_t>(dims(term).size()); }
    [[nodiscard]] ElementType element(Term term) const { return graph_.value(term.id).type.element; }
    // Returns the tensor of a constant; null for other values and for nothing.
    [[nodiscard]] const Tensor* constant(Term term) const { return graph_.constant(term.id); }

  private:
    std::vector<Term> place(Node node, const std::vector<Term>& inputs, std::size_t outputs);

    Graph& graph_;
    Node pattern_;  // name, origin, phase and twin of the next node
    std::map<std::pair<ElementType, double>, ValueId> numbers_;
    std::map<Dims, ValueId> integers_;
    std::map<ValueId, Dims> dims_;
};

// Arithmetic broadcasts as numpy does. A number has the element type of the other operand.
[[nodiscard]] Term operator+(Term a, Term b);
[[nodiscard]] Term operator-(Term a, Term b);
[[nodiscard]] Term operator*(Term a, Term b);
[[nodiscard]] Term operator/(Term a, Term b);
[[nodiscard]] Term operator+(Term a, double b);
[[nodiscard]] Term operator-(Term a, double b);
[[nodiscard]] Term operator-(double a, Term b);
[[nodiscard]] Term operator*(Term a, double b);
[[nodiscard]] inline Term operator*(double a, Term b) { return b * a; }
[[nodiscard]] Term operator/(Term a, double b);
[[nodiscard]] Term operator/(double a, Term b);
[[nodiscard]] Term operator-(Term a);

// Comparisons give truth values; where() takes `yes` if `condition` holds and `no` otherwise.
[[nodiscard]] Term operator>(Term a, Term b);
[[nodiscard]] Term operator>(Term a, double b);
[[nodiscard]] Term operator<(Term a, Term b);
[[nodiscard]] Term operator<(Term a, double b);
[[nodiscard]] Term operator>=(Term a, double b);
[[nodiscard]] Term operator<=(Term a, double b);
[[nodiscard]] Term equal(Term a, Term b);
[[nodiscard]] Term both(Term a, Term b);
[[nodiscard]] Term where(Term condition, Term yes, Term no);
[[nodiscard]] Term where(Term condition, Term yes, double no);

// Applies an operator of one input: apply(op::Exp, x).
[[nodiscard]] Term apply(graph::KnownOperator op, Term x);
[[nodiscard]] Term exp(Term x);
[[nodiscard]] Term log(Term x);
[[nodiscard]] Term sqrt(Term x);
[[nodiscard]] Term square(Term x);

[[nodiscard]] Term matmul(Term a, Term b);
[[nodiscard]] Term cast(Term x, ElementType to);       // x itself if it has this type
[[nodiscard]] Term reshape(Term x, const Dims& dims);  // x itself if it has these dimensions
[[nodiscard]] Term like(Term x, Term other);           // reshape(x, dims of other)
[[nodiscard]] Term expand(Term x, const Dims& dims);   // broadcast to `dims`
// x itself if the order is 0, 1, 2, …, and what x was made of if this undoes a transposition.
[[nodiscard]] Term transpose(Term x, const Dims& order);
[[nodiscard]] Term swap_last(Term x);  // the last two axes exchanged
// Sum or mean over `axes`, which stay with extent 1 if `keep`. Without axes x itself.
[[nodiscard]] Term sum(Term x, const Dims& axes, bool keep = true);
[[nodiscard]] Term mean(Term x, const Dims& axes, bool keep = true);
[[nodiscard]] Term concat(const std::vector<Term>& parts, std::int64_t axis);
// The elements start ≤ index < end along `axis`.
[[nodiscard]] Term slice(Term x, std::int64_t axis, std::int64_t start, std::int64_t end);
// `before` and `after` zeros around each axis; negative numbers cut.
[[nodiscard]] Term pad(Term x, const Dims& before, const Dims& after);
// Sums the axes along which a tensor of these dims was broadcast to x, so that the result has them.
[[nodiscard]] Term reduce_to(Term x, const Dims& dims);
[[nodiscard]] Term reduce_to(Term x, Term other);  // reduce_to(x, dims of other)

}  // namespace viridian::gradient
