#pragma once
// How a rule reads and edits a graph. The first edit makes a copy, so a rule that gives up leaves no trace.
#include <optional>
#include <string>
#include <vector>

#include "viridian/rewrite/fold_cache.hpp"

namespace viridian::rewrite {

using graph::Attributes;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::TensorType;
using graph::ValueId;

// Equal keys and values; tensors by content.
[[nodiscard]] bool same_attributes(const Attributes& a, const Attributes& b);

class Editor {
  public:
    // `folds` may be null; else it outlives the editor.
    Editor(const Graph& before, const graph::Uses& uses, FoldCache* folds = nullptr)
        : before_(before), uses_(uses), folds_(folds) {}

    // --- reading, as the graph was before the rule
    [[nodiscard]] const Graph& graph() const { return before_; }
    [[nodiscard]] const Node& node(NodeId id) const { return before_.node(id); }
    // The node that defines `value`, if it is `op` of ai.onnx; else null.
    [[nodiscard]] const Node* producer(ValueId value, std::string_view op) const;
    [[nodiscard]] NodeId producer_id(ValueId value) const { return before_.value(value).producer; }
    [[nodiscard]] const Tensor* constant(ValueId value) const;
    [[nodiscard]] std::optional<double> scalar(ValueId value) const;  // a constant of one element
    [[nodiscard]] std::optional<Dims> integers(ValueId value) const;  // a constant of integers
    // A constant, or computed from constants alone: folding makes it one.
    [[nodiscard]] bool fixed(ValueId value) const;
    [[nodiscard]] std::optional<Dims> dims(ValueId value) const;  // where every dimension is a number
    [[nodiscard]] std::optional<std::int64_t> rank(ValueId value) const;
    [[nodiscard]] ElementType element(ValueId value) const { return before_.value(value).type.element; }
    [[nodiscard]] bool same_type(ValueId a, ValueId b) const;  // known and equal
    [[nodiscard]] const std::vector<NodeId>& readers(ValueId value) const;
    [[nodiscard]] std::size_t use_count(ValueId value) const { return uses_.count(value); }
    [[nodiscard]] bool used_once(ValueId value) const { return use_count(value) == 1; }
    [[nodiscard]] bool is_output(ValueId value) const;
    // What a node computes that reads constants alone.
    [[nodiscard]] Result<std::vector<Tensor>> evaluate(const Node& node) const {
        return folds_ != nullptr ? folds_->evaluate(before_, node) : evaluate_constants(before_, node);
    }
    // Whether replace(value, with) is possible: an output keeps its name, so it needs a producer of its own.
    [[nodiscard]] bool replaceable(ValueId value, ValueId with) const;

    // --- editing
    // A new node of one output, typed by its shape rule and named after the node the rule is applied at.
    ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
    std::vector<ValueId> add_node(Node node, std::size_t outputs);
    ValueId like(const Node& node,
                 std::vector<ValueId> inputs);  // the same operator, one output, of other inputs
    ValueId constant(Tensor tensor);
    ValueId vector_of(const Dims& values);              // i64
    ValueId scalar_like(ValueId value, double number);  // of value's element type, rank 0
    // Every use of `value` reads `with` instead; outputs keep their names. Both computed the same.
    void replace(ValueId value, ValueId with);
    // New nodes that come with origins stand for those alone, not for all that is removed.
    void keep_origins() { keep_origins_ = true; }
    // The producer of `with` also stands for what is removed (common subexpressions).
    void inherit(ValueId with) { heir_ = with; }

    // --- for the runner
    void at(NodeId id) { at_ = id; }
    [[nodiscard]] bool edited() const { return draft_.has_value(); }
    [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
    // The edited graph without dead nodes, origins handed on; `removed`: names of the nodes that went.
    [[nodiscard]] Graph finish(std::vector<std::string>& removed) &&;

  private:
    Graph& draft();

    const Graph& before_;
    const graph::Uses& uses_;
    FoldCache* folds_ = nullptr;
    NodeId at_ = NodeId::none;
    ValueId heir_ = ValueId::none;
    bool keep_origins_ = false;
    std::optional<Graph> draft_;
    std::optional<Error> failure_;
};

}  // namespace viridian::rewrite
