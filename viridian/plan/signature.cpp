#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;

struct AttributeText {
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& string) const { return "'" + string + "'"; }
    std::string operator()(const Tensor& tensor) const {
        return fmt::format("{:016x}", tensor.content_hash());
    }
    template <class T>
    std::string operator()(const std::vector<T>& list) const {
        std::string out = "[";
        for (const T& item : list) out += (out.size() == 1 ? "" : ",") + (*this)(item);
        return out + "]";
    }
};

// Axes, shapes, bounds, exponents: constants that change what the kernel does, not what it is done to.
bool value_matters(const Tensor& tensor) {
    return tensor.count() <= 1 || (tensor.count() <= 16 && !graph::is_floating(tensor.type()));
}

std::string constant_text(const Tensor& tensor) {
    std::string out = text(tensor.tensor_type());
    if (!value_matters(tensor)) return out;
    for (std::int64_t i = 0; i < tensor.count(); ++i)
        out += fmt::format("{}{}", i == 0 ? "=" : ",", tensor.number(i));
    return out;
}

std::size_t position(const std::vector<ValueId>& list, ValueId id) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), id) - list.begin());
}

// A state's old value is read from where the new one goes, so other kernels may be worth offering.
bool becomes_state(const Graph& graph, ValueId id) {
    return std::ranges::any_of(graph.states(), [&](const graph::State& state) { return state.after == id; });
}

}  // namespace

std::string signature(const Graph& graph, const Region& region) {
    std::string out;
    std::vector<ValueId> inner;
    for (const graph::NodeId id : region.nodes) {
        const graph::Node& node = graph.node(id);
        if (!out.empty()) out += ';';
        out += node.op.qualified_name();
        const graph::OperatorRow* row = find_operator(node);
        std::string list;
        for (const auto& [key, attribute] : node.attributes)
            if (row == nullptr || key != row->numbering)
                list += (list.empty() ? "" : ",") + key + "=" + std::visit(AttributeText{}, attribute);
        if (!list.empty()) out += "{" + list + "}";
        for (const auto& body : node.bodies) out += fmt::format("<{:016x}>", structural_hash(*body));
        std::string inputs;
        for (const ValueId input : node.inputs) {
            if (!inputs.empty()) inputs += ' ';
            if (input == ValueId::none)
                inputs += '_';
            else if (const Tensor* constant = graph.constant(input))
                inputs += fmt::format("c{}:{}", position(region.constants, input), constant_text(*constant));
            else if (const auto at = position(region.inputs, input); at < region.inputs.size())
                inputs += fmt::format("i{}:{}", at, text(graph.value(input).type));
            else
                inputs += fmt::format("n{}", position(inner, input));
        }
        out += "(" + inputs + ")";
        for (const ValueId output : node.outputs) {
            inner.push_back(output);
            const bool seen = position(region.outputs, output) < region.outputs.size();
            out += seen ? ">" + text(graph.value(output).type) : std::string(">");
            if (seen && becomes_state(graph, output)) out += " state";
        }
    }
    return out;
}

}  // namespace viridian::plan
