#include "fuzz/engine/mutate_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fuzz/engine/mutate_tensors.hpp"
#include "fuzz/engine/pick.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::fuzz {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;

std::vector<std::string> names_of(const GraphProto& graph) {
    std::vector<std::string> names;
    for (const ValueInfoProto& value : graph.input()) names.push_back(value.name());
    for (const TensorProto& tensor : graph.initializer()) names.push_back(tensor.name());
    for (const NodeProto& node : graph.node())
        names.insert(names.end(), node.output().begin(), node.output().end());
    return names;
}

std::string some_name(const GraphProto& graph, Random& random) {
    const std::vector<std::string> names = names_of(graph);
    return names.empty() ? std::string() : names[random.below(names.size())];
}

std::string new_name(Random& random) { return fmt::format("v{:x}", random.next() & 0xffffffU); }

// The readers of `from`, and outputs of that name, get `to`.
void replace_reads(GraphProto& graph, const std::string& from, const std::string& to) {
    for (NodeProto& node : *graph.mutable_node())
        for (std::string& input : *node.mutable_input())
            if (input == from) input = to;
    for (ValueInfoProto& output : *graph.mutable_output())
        if (output.name() == from) output.set_name(to);
}

void write_attribute(AttributeProto& out, const graph::Attribute& value) {
    const std::string name = out.name();
    out.Clear();
    out.set_name(name);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        out.set_type(AttributeProto::INT);
        out.set_i(*integer);
    } else if (const auto* number = std::get_if<double>(&value)) {
        out.set_type(AttributeProto::FLOAT);
        out.set_f(static_cast<float>(*number));
    } else if (const auto* word = std::get_if<std::string>(&value)) {
        out.set_type(AttributeProto::STRING);
        out.set_s(*word);
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        out.set_type(AttributeProto::INTS);
        for (const std::int64_t one : *list) out.add_ints(one);
    }
}

// A small step from the value that the attribute has, or another one of its type.
void change_value(AttributeProto& attribute, Random& random) {
    if (attribute.ints_size() > 0 && random.chance(0.7)) {
        std::int64_t& one = *pick(attribute.mutable_ints(), random);
        one = random.chance(0.4) ? some_integer(random) : moved(one, random.chance(0.5) ? 1 : -1);
        return;
    }
    switch (attribute.type()) {
        case AttributeProto::INT:
            attribute.set_i(random.chance(0.5) ? some_integer(random)
                                               : attribute.i() ^ (random.chance(0.5) ? 1 : 3));
            return;
        case AttributeProto::FLOAT:
            attribute.set_f(some_number(random));
            return;
        case AttributeProto::STRING:
            attribute.set_s(some_word(random));
            return;
        case AttributeProto::TENSOR:
            change_tensor(*attribute.mutable_t(), random);
            return;
        case AttributeProto::INTS:
            write_attribute(attribute, some_integers(random));
            return;
        case AttributeProto::FLOATS:
            attribute.add_floats(some_number(random));
            return;
        case AttributeProto::STRINGS:
            attribute.add_strings(some_word(random));
            return;
        default:
            return;
    }
}

void add_node(GraphProto& graph, const std::string& op, const std::string& input, const std::string& output,
              Random& random) {
    NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.add_input(input);
    if (op == "Add" || op == "Mul" || op == "Div" || op == "Max") {
        node.add_input(random.chance(0.5) ? input : some_name(graph, random));
        if (random.chance(0.3)) node.mutable_input()->SwapElements(0, 1);
    }
    node.add_output(output);
}

}  // namespace

void change_attribute(GraphProto& graph, Random& random) {
    NodeProto* node = pick(graph.mutable_node(), random);
    if (node == nullptr) return;
    AttributeProto* old = pick(node->mutable_attribute(), random);
    if (old != nullptr && random.chance(0.1)) {
        const auto at = below(random, node->attribute_size());
        node->mutable_attribute()->DeleteSubrange(static_cast<int>(at), 1);
    } else if (old != nullptr && random.chance(0.7)) {
        change_value(*old, random);
    } else {
        const auto [key, value] = some_attribute(random);
        AttributeProto* attribute = nullptr;
        for (AttributeProto& other : *node->mutable_attribute())
            if (other.name() == key) attribute = &other;
        if (attribute == nullptr) attribute = node->add_attribute();
        attribute->set_name(key);
        write_attribute(*attribute, value);
    }
}

void rewire(GraphProto& graph, Random& random) {
    NodeProto* node = pick(graph.mutable_node(), random);
    if (node == nullptr) return;
    if (node->input_size() == 0 || random.chance(0.15)) {
        node->add_input(some_name(graph, random));
        return;
    }
    const auto at = static_cast<int>(below(random, node->input_size()));
    switch (random.below(5)) {
        case 0:
            node->set_input(at, "");
            return;
        case 1:
            node->mutable_input()->RemoveLast();
            return;
        case 2:
            node->mutable_input()->SwapElements(at, static_cast<int>(below(random, node->input_size())));
            return;
        default:
            node->set_input(at, some_name(graph, random));
    }
}

void drop_node(GraphProto& graph, Random& random) {
    if (graph.node_size() == 0) return;
    const auto at = static_cast<int>(below(random, graph.node_size()));
    const NodeProto node = graph.node(at);
    graph.mutable_node()->DeleteSubrange(at, 1);
    if (node.input_size() == 0 || random.chance(0.1)) return;
    const std::string& input = node.input(static_cast<int>(below(random, node.input_size())));
    for (const std::string& output : node.output()) replace_reads(graph, output, input);
}

void duplicate_node(GraphProto& graph, Random& random) {
    if (graph.node_size() == 0) return;
    NodeProto node = graph.node(static_cast<int>(below(random, graph.node_size())));
    for (std::string& output : *node.mutable_output()) {
        const std::string before = output;
        if (!before.empty()) output = new_name(random);
        if (NodeProto* reader = pick(graph.mutable_node(), random); reader != nullptr && !before.empty())
            for (std::string& input : *reader->mutable_input())
                if (input == before) input = output;
    }
    node.set_name(new_name(random));
    if (node.output_size() > 0 && random.chance(0.6)) graph.add_output()->set_name(node.output(0));
    *graph.add_node() = node;
}

void change_outputs(GraphProto& graph, Random& random) {
    if (graph.output_size() > 1 && random.chance(0.3))
        graph.mutable_output()->RemoveLast();
    else
        graph.add_output()->set_name(some_name(graph, random));
}

void swap_operator(GraphProto& graph, Random& random) {
    static const std::vector<const graph::OperatorRow*> rows = graph::all_operators();
    NodeProto* node = pick(graph.mutable_node(), random);
    if (node == nullptr) return;
    for (int tries = 0; tries < 30; ++tries) {
        const graph::OperatorRow& row = *rows[random.below(rows.size())];
        const int inputs = node->input_size();
        if (!random.chance(0.05) && (inputs < row.inputs.least || inputs > row.inputs.most)) continue;
        node->set_op_type(std::string(row.name));
        node->set_domain(std::string(row.domain));
        return;
    }
}

void append_chain(GraphProto& graph, Random& random) {
    constexpr const char* operators[] = {"Relu",      "Sigmoid", "Tanh",      "Add",       "Mul",  "Div",
                                         "Max",       "Neg",     "Abs",       "Exp",       "Sqrt", "Identity",
                                         "Softmax",   "Erf",     "HardSwish", "LeakyRelu", "Clip", "Elu",
                                         "Transpose", "Flatten", "Not",       "Shape",     "Log",  "Floor"};
    std::vector<std::string> made;
    for (const NodeProto& node : graph.node())
        made.insert(made.end(), node.output().begin(), node.output().end());
    const std::string start =
        made.empty() || random.chance(0.2) ? some_name(graph, random) : made[random.below(made.size())];
    if (start.empty()) return;
    const std::string last = new_name(random);
    replace_reads(graph, start, last);
    std::string value = start;
    for (std::uint64_t left = random.below(3); left > 0; --left) {
        const std::string next = new_name(random);
        add_node(graph, operators[random.below(std::size(operators))], value, next, random);
        value = next;
    }
    add_node(graph, operators[random.below(std::size(operators))], value, last, random);
}

void graft(GraphProto& graph, GraphProto& other, Random& random) {
    const std::string prefix = new_name(random);
    std::set<std::string> own;
    for (const std::string& name : names_of(other)) own.insert(name);
    const auto renamed = [&](const std::string& name) { return own.contains(name) ? prefix + name : name; };
    const std::string root = some_name(graph, random);
    const auto fed = static_cast<int>(below(random, other.input_size()));
    for (int i = 0; i < other.input_size(); ++i) {
        if (i == fed) continue;
        *graph.add_input() = other.input(i);
        graph.mutable_input()->rbegin()->set_name(renamed(other.input(i).name()));
    }
    const std::string fed_name = other.input_size() > 0 ? other.input(fed).name() : std::string();
    for (TensorProto& tensor : *other.mutable_initializer()) {
        tensor.set_name(renamed(tensor.name()));
        *graph.add_initializer() = tensor;
    }
    for (NodeProto& node : *other.mutable_node()) {
        for (std::string& input : *node.mutable_input()) input = input == fed_name ? root : renamed(input);
        for (std::string& output : *node.mutable_output()) output = renamed(output);
        *graph.add_node() = node;
    }
    for (ValueInfoProto& output : *other.mutable_output()) {
        output.set_name(output.name() == fed_name ? root : renamed(output.name()));
        *graph.add_output() = output;
    }
}

}  // namespace viridian::fuzz
