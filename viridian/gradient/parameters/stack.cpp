#include "viridian/gradient/parameters/stack.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "viridian/rewrite/movement.hpp"

namespace viridian::gradient {
namespace {

namespace op = graph::op;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;
using rewrite::Editor;

constexpr std::array<std::string_view, 3> stacking_names = {"separate", "pairs", "all"};

// x·W, x·Wᵀ, or one of them plus a bias.
struct Projection {
    NodeId node = NodeId::none;       // the product
    ValueId weights = ValueId::none;  // states
    ValueId bias = ValueId::none;
    ValueId result = ValueId::none;  // of the addition, or of the product
    bool rows = false;               // rows of the weights are features: x·Wᵀ
};

class Stacker {
  public:
    Stacker(Graph& graph, Stacking stacking, ValueId loss_of, const std::function<double(ValueId)>& decay_of)
        : graph_(graph), stacking_(stacking), decay_of_(decay_of), needed_(graph.node_slots()) {
        std::vector<ValueId> open = {loss_of};
        while (!open.empty()) {
            const ValueId value = open.back();
            open.pop_back();
            if (value == ValueId::none || graph.producer(value) == nullptr) continue;
            const NodeId id = graph.value(value).producer;
            if (needed_[index(id)]) continue;
            needed_[index(id)] = true;
            open.insert(open.end(), graph.node(id).inputs.begin(), graph.node(id).inputs.end());
        }
    }

    Result<std::vector<Stack>> stack() {
        for (const std::vector<Projection>& group : groups()) {
            const std::size_t most = stacking_ == Stacking::pairs ? 2 : group.size();
            for (std::size_t first = 0; first + 1 < group.size(); first += most)
                VIRIDIAN_TRY(stack(std::span(group).subspan(first, std::min(most, group.size() - first))));
        }
        return std::move(stacks_);
    }

  private:
    // The projections of each value that may become one product, in the order of the nodes.
    std::vector<std::vector<Projection>> groups() const {
        const graph::Uses uses = graph::uses(graph_);
        const Editor reader(graph_, uses);
        using Key = std::tuple<ValueId, bool, bool, double, std::optional<double>>;
        std::map<Key, std::size_t> numbers;
        std::vector<std::vector<Projection>> groups;
        for (const NodeId id : graph_.nodes()) {
            const std::optional<Projection> found =
                needed_[index(id)] ? projection(reader, id) : std::nullopt;
            if (!found) continue;
            const Node& node = graph_.node(id);
            const auto bias =
                found->bias == ValueId::none ? std::nullopt : std::optional(decay_of_(found->bias));
            const Key key{node.inputs[0], node.op == op::Gemm, found->rows, decay_of_(found->weights), bias};
            const auto [number, added] = numbers.emplace(key, groups.size());
            if (added) groups.emplace_back();
            groups[number->second].push_back(*found);
        }
        return groups;
    }

    // A trained parameter that one node reads and nothing changes yet.
    static bool is_own(const Editor& reader, ValueId id, std::size_t rank) {
        if (id == ValueId::none || reader.graph().value(id).kind != graph::ValueKind::state) return false;
        const auto dims = reader.dims(id);
        const bool unchanged = std::ranges::any_of(reader.graph().states(), [&](const graph::State& state) {
            return state.before == id && state.after == id && state.role == graph::StateRole::parameter;
        });
        return unchanged && reader.use_count(id) == 2 && reader.readers(id).size() == 1 && dims &&
               dims->size() == rank && reader.graph().first_value(id) != nullptr;
    }

    static std::optional<Projection> projection(const Editor& reader, NodeId id) {
        const Node& node = reader.node(id);
        Projection found{.node = id, .weights = node.input(1), .result = node.output(0)};
        if (node.op == op::Gemm) {
            if (node.integer("transA", 0) != 0 || node.get("alpha", 1.0) != 1 || node.get("beta", 1.0) != 1)
                return std::nullopt;
            found.rows = node.integer("transB", 0) != 0;
            if (node.input(2) != ValueId::none) {
                if (!is_own(reader, node.input(2), 1)) return std::nullopt;
                found.bias = node.input(2);
            }
        } else if (node.op == op::MatMul) {
            if (reader.rank(node.input(0)).value_or(0) < 2) return std::nullopt;
            if (const Node* turned = reader.producer(found.weights, op::Transpose);
                turned != nullptr && reader.used_once(found.weights)) {
                found.weights = turned->inputs[0];
                found.rows = true;
            }
            add_bias(reader, found);
        } else {
            return std::nullopt;
        }
        if (!is_own(reader, found.weights, 2) || reader.is_output(found.result) ||
            (found.bias != ValueId::none && reader.dims(found.bias) != graph::Dims{width(reader, found)}))
            return std::nullopt;
        return found;
    }

    // x·W + b, where nothing else reads the product.
    static void add_bias(const Editor& reader, Projection& found) {
        const Node* sum = rewrite::only_reader(reader, found.result);
        if (sum == nullptr || sum->op != op::Add) return;
        const ValueId other = sum->inputs[sum->inputs[0] == found.result ? 1 : 0];
        if (!is_own(reader, other, 1)) return;
        found.bias = other;
        found.result = sum->outputs[0];
    }

    static std::int64_t width(const Editor& reader, const Projection& one) {
        return (*reader.dims(one.weights))[one.rows ? 0 : 1];
    }

    Result<void> stack(std::span<const Projection> members) {
        const Projection& last = members.back();
        const ValueId weights = add_stack(members, &Projection::weights, last.rows ? 0 : 1);
        const ValueId bias =
            last.bias == ValueId::none ? ValueId::none : add_stack(members, &Projection::bias, 0);
        std::vector<std::string> removed;
        const graph::Uses uses = graph::uses(graph_);
        Editor editor(graph_, uses);
        editor.at(last.node);
        const Node& node = editor.node(last.node);
        std::vector<ValueId> inputs = {node.inputs[0], weights};
        graph::Dims widths;
        for (const Projection& one : members) widths.push_back(width(editor, one));
        ValueId y = ValueId::none;
        if (node.op == op::Gemm) {
            if (bias != ValueId::none) inputs.push_back(bias);
            y = editor.like(node, inputs);
        } else {
            if (last.rows) inputs[1] = editor.add(op::Transpose, {weights});
            y = editor.add(op::MatMul, inputs);
            if (bias != ValueId::none) y = editor.add(op::Add, {y, bias});
        }
        const std::vector<ValueId> parts =
            rewrite::add_split(editor, y, *editor.rank(node.outputs[0]) - 1, widths);
        for (std::size_t i = 0; i < members.size(); ++i) editor.replace(members[i].result, parts[i]);
        if (editor.failure()) return *editor.failure();
        graph_ = std::move(editor).finish(removed);
        for (const ValueId old : stacks_.back().replaced) forget(old);
        if (bias != ValueId::none)
            for (const ValueId old : stacks_[stacks_.size() - 2].replaced) forget(old);
        return {};
    }

    // Adds the state that holds one parameter of each member.
    ValueId add_stack(std::span<const Projection> members, ValueId Projection::* parameter,
                      std::int64_t axis) {
        Stack& made = stacks_.emplace_back();
        std::vector<graph::Tensor> tensors;
        for (const Projection& one : members) {
            const ValueId id = one.*parameter;
            made.replaced.push_back(id);
            tensors.push_back(*graph_.first_value(id));
            made.state.parts.push_back(
                {graph_.value(id).name, tensors.back().dims()[static_cast<std::size_t>(axis)]});
        }
        made.state.axis = axis;
        made.value = graph_.add_state(stacked_name(made.state.parts), joined(tensors, axis));
        made.state.name = graph_.value(made.value).name;
        graph_.set_after(made.value, made.value);
        return made.value;
    }

    void forget(ValueId parameter) { graph_.make_constant(parameter, graph::Tensor()); }

    Graph& graph_;
    Stacking stacking_;
    const std::function<double(ValueId)>& decay_of_;
    std::vector<bool> needed_;  // by node: the loss depends on it
    std::vector<Stack> stacks_;
};

}  // namespace

std::string_view name_of(Stacking stacking) { return stacking_names[static_cast<std::size_t>(stacking)]; }

std::optional<Stacking> parse_stacking(std::string_view name) {
    const auto found = std::ranges::find(stacking_names, name);
    if (found == stacking_names.end()) return std::nullopt;
    return static_cast<Stacking>(found - stacking_names.begin());
}

Result<std::vector<Stack>> stack_weights(Graph& graph, Stacking stacking, ValueId loss_of,
                                         const std::function<double(ValueId)>& decay_of) {
    if (stacking == Stacking::separate) return std::vector<Stack>();
    return Stacker(graph, stacking, loss_of, decay_of).stack();
}

}  // namespace viridian::gradient
