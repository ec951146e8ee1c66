#pragma once
// Editor is how a rule reads and edits a graph. The first edit makes a copy, so that a rule that gives up
// leaves the graph as it was.
#include <optional>
#include <string>
#include <vector>

#include "viridian/graph/operators/same_operator.hpp"
#include "viridian/rewrite/fold_cache.hpp"

namespace viridian::rewrite {

using graph::Attributes;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Phase;
using graph::same_attributes;
using graph::same_operator;
using graph::Tensor;
using graph::TensorType;
using graph::ValueId;

class Editor {
  public:
    // Edits `before`, whose uses are `uses`. `folds` keeps folded constants and may be null. All of them
    // outlive the editor.
    Editor(const Graph& before, const graph::Uses& uses, FoldCache* folds = nullptr)
        : before_(before), uses_(uses), folds_(folds) {}

    // --- Reading. Everything is answered for the graph as it was before the rule.
    [[nodiscard]] const Graph& graph() const { return before_; }
    [[nodiscard]] const Node& node(NodeId id) const { return before_.node(id); }
    // Returns the node that defines `value`, if it is the operator `op` of ai.onnx; else null.
    [[nodiscard]] const Node* producer(ValueId value, graph::KnownOperator op) const;
    [[nodiscard]] NodeId producer_id(ValueId value) const { return before_.value(value).producer; }
    // Returns the constant's tensor, or null if `value` is not constant.
    [[nodiscard]] const Tensor* constant(ValueId value) const;
    [[nodiscard]] std::optional<double> scalar(ValueId value) const;  // of a constant of one element
    [[nodiscard]] bool is_number(ValueId value) const;                // a constant of rank 0
    [[nodiscard]] std::optional<Dims> integers(ValueId value) const;  // of a constant of integers
    // Returns whether `value` is constant or computed from constants alone, so that folding makes it one.
    [[nodiscard]] bool fixed(ValueId value) const;
    // Returns the extents, if every dimension is a known number.
    [[nodiscard]] std::optional<Dims> dims(ValueId value) const;
    [[nodiscard]] std::optional<std::int64_t> rank(ValueId value) const;
    [[nodiscard]] ElementType element(ValueId value) const { return before_.value(value).type.element; }
    // Returns whether the types of `a` and `b` are known and equal.
    [[nodiscard]] bool same_type(ValueId a, ValueId b) const;
    [[nodiscard]] std::span<const NodeId> readers(ValueId value) const;
    [[nodiscard]] std::size_t use_count(ValueId value) const { return uses_.count(value); }
    [[nodiscard]] bool used_once(ValueId value) const { return use_count(value) == 1; }
    [[nodiscard]] bool is_output(ValueId value) const;
    // Computes the results of `node`, which reads constants alone. Errors: those of evaluation.
    [[nodiscard]] Result<std::vector<Tensor>> evaluate(const Node& node) const {
        return folds_ != nullptr ? folds_->evaluate(before_, node) : evaluate_constants(before_, node);
    }
    // Returns whether replace(value, with) is possible. If `value` is an output of the graph, the producer of
    // `with` defines it from then on, so `with` must come from a node and must not be an output itself.
    [[nodiscard]] bool replaceable(ValueId value, ValueId with) const;

    // --- Editing. New nodes are typed by their shape rules and named after the node that the rule is applied
    // at.
    ValueId add(graph::Operator op, std::vector<ValueId> inputs, Attributes attributes = {});
    std::vector<ValueId> add_node(Node node, std::size_t outputs);
    // Adds the operator of `node` with one output, but with other `inputs`.
    ValueId like(const Node& node, std::vector<ValueId> inputs);
    ValueId constant(Tensor tensor);
    ValueId vector_of(const Dims& values);              // an i64 vector
    ValueId scalar_like(ValueId value, double number);  // of the element type of `value` and rank 0
    // Makes every use of `value` read `with` instead. Outputs keep their names.
    void replace(ValueId value, ValueId with);
    // Lets new nodes keep the origins that they are added with. Otherwise every new node gets the origins of
    // everything that is removed.
    void keep_origins() { keep_origins_ = true; }
    // Adds the origins of what is removed to those of the producer of `with`, which may be an existing node
    // (common subexpressions).
    void inherit(ValueId with) { heir_ = with; }

    // --- For the engine (rewrite.cpp).
    void at(NodeId id) { at_ = id; }  // names the node at which the rule is applied
    [[nodiscard]] bool edited() const { return draft_.has_value(); }
    // Returns the first error of a shape rule, if a new node had one.
    [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
    // Returns the edited graph without dead nodes, in which new nodes have the origins of those that went,
    // and appends the names of the nodes that went to `removed`. In a training graph a node that takes over
    // a value has the phase and twin of the node that defined the value, the earliest if it takes over
    // values of several phases. A new node that only other new nodes read has their earliest phase. No node
    // gets a phase before that of what it reads.
    [[nodiscard]] Graph finish(std::vector<std::string>& removed) &&;

  private:
    Graph& draft();
    void hand_on_phases(Graph& after) const;

    const Graph& before_;
    const graph::Uses& uses_;
    FoldCache* folds_ = nullptr;
    NodeId at_ = NodeId::none;
    ValueId heir_ = ValueId::none;
    bool keep_origins_ = false;
    std::vector<std::pair<NodeId, NodeId>> taken_over_;  // a node, and the one that defined its value before
    std::optional<Graph> draft_;
    std::optional<Error> failure_;
};

}  // namespace viridian::rewrite
