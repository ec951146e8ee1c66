// Makes the mutants on which the check of gradient rules is itself checked: each differs in one place from
// what a rule made.
#include <algorithm>
#include <limits>
#include <utility>

#include "viridian/gradient/check/check.hpp"
#include "viridian/gradient/inline_bodies.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

const std::pair<graph::KnownOperator, graph::KnownOperator> exchanged[] = {{op::Add, op::Sub},
                                                                           {op::Sub, op::Add},
                                                                           {op::Mul, op::Div},
                                                                           {op::Div, op::Mul},
                                                                           {op::Greater, op::Less},
                                                                           {op::Less, op::Greater},
                                                                           {op::Exp, op::Identity},
                                                                           {op::Log, op::Identity},
                                                                           {op::Sqrt, op::Identity},
                                                                           {op::Neg, op::Identity},
                                                                           {op::Sin, op::Cos},
                                                                           {op::Cos, op::Sin},
                                                                           {op::Sign, op::Identity},
                                                                           {op::Tanh, op::Identity},
                                                                           {op::Sigmoid, op::Identity},
                                                                           {op::Not, op::Identity},
                                                                           {op::ReduceSum, op::ReduceMean},
                                                                           {op::ReduceMean, op::ReduceSum},
                                                                           {op::And, op::Or},
                                                                           {op::GreaterOrEqual, op::Less},
                                                                           {op::LessOrEqual, op::Greater},
                                                                           {op::Reciprocal, op::Identity}};

class Maker {
  public:
    Maker(const Question& question, std::vector<Mutant>& made, std::vector<std::string>* untyped)
        : question_(question), made_(made), untyped_(untyped) {}

    // Keeps the question with `node` in place of node `id`, if every value keeps its type.
    void keep(NodeId id, const Node& node, std::string change) {
        Question changed = question_;
        changed.graph.set_node(id, node);
        std::string name = fmt::format("{} {}: {}", node_.op, ordinal_, change);
        if (keeps_types(changed.graph))
            made_.push_back({std::move(changed), std::move(name)});
        else if (untyped_ != nullptr)
            untyped_->push_back(std::move(name));
    }

    // Makes the mutants of node `id`, the `ordinal`-th of its operator.
    // A sum over axes of extent 1 is no sum, so its mutants would be equal to it.
    void mutate(NodeId id, int ordinal) {
        const Node& node = node_ = question_.graph.node(id);
        ordinal_ = ordinal;
        if (node.op == op::ReduceSum || node.op == op::ReduceMean) {
            const auto count = [&](ValueId value) {
                return *graph::element_count(question_.graph.value(value).type.dims());
            };
            if (count(node.input(0)) == count(node.output(0))) return;
        }
        for (const auto& [from, to] : exchanged)
            if (node.op == from) {
                Node other = node;
                other.op = to;
                keep(id, other, fmt::format("{} instead", to.name()));
            }
        if (node.op == op::Add || node.op == op::Mul || node.op == op::Sub || node.op == op::Sum)
            for (std::size_t i = 0; i < node.inputs.size(); ++i) drop(id, i);
        if (node.op == op::Where) {
            Node other = node;
            std::swap(other.inputs[1], other.inputs[2]);
            keep(id, other, "branches exchanged");
        }
        if (node.op == op::Sub || node.op == op::Div || node.op == op::MatMul) {
            Node other = node;
            std::swap(other.inputs[0], other.inputs[1]);
            keep(id, other, "operands exchanged");
        }
        for (const auto& [key, value] : node.attributes) turn(id, key, value);
        if (node.op == op::Expand) return;  // another extent gives another type, or broadcasts as before
        for (std::size_t i = 1; i < node.inputs.size(); ++i) shift(id, i);
    }

  private:
    [[nodiscard]] bool keeps_types(Graph& changed) const {
        if (!infer_types(changed).ok()) return false;
        for (std::size_t i = 0; i < changed.outputs().size(); ++i)
            if (changed.value(changed.outputs()[i]).type !=
                question_.graph.value(question_.graph.outputs()[i]).type)
                return false;
        return true;
    }

    void drop(NodeId id, std::size_t i) {
        const Node& node = question_.graph.node(id);
        if (node.inputs.size() < 2) return;
        Node other = node;
        other.inputs.erase(other.inputs.begin() + static_cast<std::ptrdiff_t>(i));
        if (node.op != op::Sum) other.op = op::Identity;
        if (node.inputs.size() == 2 && node.op == op::Sum) other.op = op::Identity;
        keep(id, other, fmt::format("without operand {}", i));
    }

    // Turns an axis, an order or a flag.
    void turn(NodeId id, const std::string& key, const graph::Attribute& value) {
        Node other = question_.graph.node(id);
        if (const auto* number = std::get_if<std::int64_t>(&value)) {
            if (key == "to" || key == "keepdims" || key == "allowzero") return;
            other.attributes[key] = *number == 0 ? std::int64_t{1} : *number - 1;
        } else if (const auto* real = std::get_if<double>(&value)) {
            other.attributes[key] = *real + 1;
        } else if (const auto* list = std::get_if<Dims>(&value)) {
            if (list->size() < 2) return;
            // The extents of a convolution fix these, except along axes of one cell, on which they do
            // nothing.
            if ((key == "strides" || key == "dilations") &&
                (other.op == op::Conv || other.op == op::ConvTranspose))
                return;
            Dims turned = *list;
            std::rotate(turned.begin(), turned.begin() + 1, turned.end());
            if (turned == *list) return;
            other.attributes[key] = turned;
        } else {
            return;
        }
        keep(id, other, fmt::format("{} turned", key));
    }

    // Changes the constant that a node reads, if its values decide (axes, factors), by one. An Expand to 1
    // instead of the extent that there is, and a Slice from the start instead of from one before it, would be
    // equal to the original.
    void shift(NodeId id, std::size_t i) {
        if (question_.graph.node(id).op == op::Expand) return;
        const Tensor* constant = question_.graph.constant(question_.graph.node(id).inputs[i]);
        if (constant == nullptr || constant->count() == 0 || constant->count() > 8) return;
        Tensor changed = *constant;
        if (constant->type() == ElementType::i64) {
            if (constant->integer(0) == std::numeric_limits<std::int64_t>::min()) return;
            changed.mutable_values<std::int64_t>()[0] += changed.integer(0) > 0 ? -1 : 1;
        } else if (constant->type() == ElementType::f64) {
            changed.mutable_values<double>()[0] = constant->number(0) == 0 ? 1 : -constant->number(0);
        } else {
            return;
        }
        Question other = question_;
        const ValueId made = other.graph.add_constant("changed", changed);
        Node node = other.graph.node(id);
        node.inputs[i] = made;
        const Question before = std::exchange(question_, other);
        keep(id, node, fmt::format("constant {} changed", i));
        question_ = before;
    }

    Question question_;
    std::vector<Mutant>& made_;
    std::vector<std::string>* untyped_;
    Node node_;
    int ordinal_ = 0;
};

// Puts the bodies of private operators in the place of their nodes, so that they have mutants too.
bool open_bodies(Question& question) {
    for (std::size_t i = question.first_new; i < question.graph.node_slots(); ++i) {
        const auto id = static_cast<NodeId>(i);
        if (question.graph.alive(id) && question.graph.node(id).bodies.size() == 1 &&
            !inline_body(question.graph, id).ok())
            return false;
    }
    return true;
}

}  // namespace

std::vector<Mutant> mutants(const Question& question, std::vector<std::string>* untyped) {
    std::vector<Mutant> made;
    Question open = question;
    if (!open_bodies(open)) return made;
    Maker maker(open, made, untyped);
    std::map<std::string, int, std::less<>> seen;
    for (const NodeId id : open.graph.nodes())
        if (index(id) >= open.first_new) maker.mutate(id, ++seen[std::string(open.graph.node(id).op.name())]);
    return made;
}

}  // namespace viridian::gradient
