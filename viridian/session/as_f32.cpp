#include "viridian/session/as_f32.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/graph/infer.hpp"
#include "viridian/graph/reference/quantized.hpp"

namespace viridian::session {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

bool is_half(ElementType type) { return type == ElementType::f16 || type == ElementType::bf16; }

graph::TensorType widened(graph::TensorType type) {
    if (is_half(type.element)) type.element = ElementType::f32;
    return type;
}

Tensor widened(const Tensor& tensor) {
    Tensor out(ElementType::f32, tensor.dims());
    const auto from = tensor.values<std::uint16_t>();
    std::ranges::transform(from, out.mutable_values<float>().begin(),
                           tensor.type() == ElementType::f16 ? graph::from_half : graph::from_bfloat16);
    return out;
}

enum class Where { model, body };  // only a model's own inputs and outputs keep their types

class WideningPass {
  public:
    WideningPass(const Graph& graph, Where where, Widened& counts)
        : from_(graph), where_(where), counts_(counts), made_(graph.value_count(), ValueId::none) {}

    Graph run(const std::vector<graph::NodeId>& order) {
        out_.name = from_.name;
        for (const ValueId id : from_.inputs()) add_input(id);
        for (std::size_t i = 0; i < from_.value_count(); ++i) {
            const auto id = static_cast<ValueId>(i);
            if (const Tensor* constant = from_.constant(id)) add_constant(id, *constant);
        }
        for (const graph::NodeId id : order) add(from_.node(id));
        std::vector<ValueId> outputs;
        for (const ValueId id : from_.outputs()) outputs.push_back(output(id));
        out_.set_outputs(std::move(outputs));
        remove_dead_nodes(out_);
        return std::move(out_);
    }

  private:
    [[nodiscard]] const graph::Value& value(ValueId id) const { return from_.value(id); }
    [[nodiscard]] bool is_half_output(ValueId id) const {
        return where_ == Where::model && is_half(value(id).type.element) &&
               std::ranges::find(from_.outputs(), id) != from_.outputs().end();
    }

    void add_input(ValueId id) {
        ValueId& made = made_[index(id)];
        if (where_ == Where::body || !is_half(value(id).type.element)) {
            made = out_.add_input(value(id).name, widened(value(id).type));
        } else {
            const ValueId given = out_.add_input(value(id).name, value(id).type);
            made = cast(given, ElementType::f32, value(id).name + ".f32");
        }
    }

    void add_constant(ValueId id, const Tensor& constant) {
        const bool half = is_half(constant.type());
        counts_.constants += half ? 1 : 0;
        made_[index(id)] = out_.add_constant(output_name(id), half ? widened(constant) : constant);
    }

    // The value that `node` and a QuantizeLinear before it give back rounded and clamped, or none.
    [[nodiscard]] ValueId before_quantisation(const Node& node) const {
        if (node.op != graph::op::DequantizeLinear ||
            std::ranges::find(from_.outputs(), node.output(0)) != from_.outputs().end())
            return ValueId::none;  // an output keeps its name
        const Node* quantise = from_.producer(node.input(0));
        if (quantise == nullptr || quantise->op != graph::op::QuantizeLinear) return ValueId::none;
        const graph::TensorType& type = value(quantise->input(0)).type;
        const Tensor* scale = from_.constant(node.input(1));
        const bool rows = scale != nullptr && scale->dims().size() == 1 && type.known() &&
                          node.integer("block_size", 0) == 0;  // one scale each
        if ((type.element != ElementType::f32 && !is_half(type.element)) || scale == nullptr ||
            (scale->count() != 1 && !rows))
            return ValueId::none;
        for (const std::size_t i : {1, 2}) {
            if (quantise->input(i) == node.input(i)) continue;
            const Tensor* one = from_.constant(quantise->input(i));
            const Tensor* other = from_.constant(node.input(i));
            if (one == nullptr || other == nullptr || !one->same_bytes(*other)) return ValueId::none;
        }
        const bool known_zero = node.input(2) == ValueId::none || from_.constant(node.input(2)) != nullptr;
        const bool same_axis = quantise->integer("axis", 1) == node.integer("axis", 1) &&
                               quantise->integer("block_size", 0) == node.integer("block_size", 0);
        return known_zero && same_axis ? quantise->input(0) : ValueId::none;
    }

    // Quantising clamps to what the integers can say, and models rely on it: ONNX Runtime's quantiser leaves
    // out a Relu where the least integer stands for 0.
    ValueId clamped(const Node& dequantise, ValueId exact) {
        const Tensor& scale = *from_.constant(dequantise.input(1));
        const Tensor* zero =
            dequantise.input(2) == ValueId::none ? nullptr : from_.constant(dequantise.input(2));
        graph::Dims dims;
        if (scale.count() != 1) {
            const auto rank = static_cast<std::int64_t>(value(exact).type.dims().size());
            const std::int64_t axis = rank == 1 ? 0 : dequantise.integer("axis", 1);
            dims.assign(static_cast<std::size_t>(axis < 0 ? -axis : rank - axis), 1);
            dims[0] = scale.count();
        }
        Tensor low(ElementType::f32, dims), high(ElementType::f32, dims);
        const ElementType integers = value(dequantise.input(0)).type.element;
        for (std::int64_t i = 0; i < scale.count(); ++i) {
            const auto z = zero == nullptr ? 0 : std::llround(zero->number(std::min(i, zero->count() - 1)));
            const auto bound = [&](double end) {
                return static_cast<float>(static_cast<double>(graph::saturated(integers, end, z) - z) *
                                          scale.number(i));
            };
            low.mutable_values<float>()[static_cast<std::size_t>(i)] = bound(-HUGE_VAL);
            high.mutable_values<float>()[static_cast<std::size_t>(i)] = bound(HUGE_VAL);
        }
        const std::string& name = value(dequantise.output(0)).name;
        const ValueId least = out_.add_constant(name + ".least", std::move(low));
        const ValueId most = out_.add_constant(name + ".most", std::move(high));
        const auto add_like = [&](const graph::Operator& op, std::vector<ValueId> inputs,
                                  const std::string& made) {
            Node node;
            node.op = op;
            node.name = made;
            node.inputs = std::move(inputs);
            node.origin = dequantise.origin;
            return out_.node(out_.add_node(std::move(node), std::span(&made, 1))).outputs[0];
        };
        const ValueId x = made_[index(exact)];
        if (dims.empty()) return add_like(graph::op::Clip, {x, least, most}, name);
        return add_like(graph::op::Min, {add_like(graph::op::Max, {x, least}, name + ".max"), most}, name);
    }

    void add(Node node) {
        if (const ValueId exact = before_quantisation(node); exact != ValueId::none) {
            ++counts_.quantised_pairs;
            made_[index(node.outputs[0])] = clamped(node, exact);
            return;
        }
        for (ValueId& input : node.inputs)
            if (input != ValueId::none) input = made_[index(input)];
        for (auto& [key, attribute] : node.attributes) widen(key, attribute);
        for (auto& body : node.bodies)
            if (auto order = topological_order(*body); order.ok())
                body = std::make_shared<const Graph>(WideningPass(*body, Where::body, counts_).run(*order));
        const std::vector<ValueId> outputs = node.outputs;
        std::vector<std::string> names;
        bool half = false;
        for (const ValueId id : outputs) {
            names.push_back(id == ValueId::none ? "" : output_name(id));
            half = half || (id != ValueId::none && is_half(value(id).type.element));
        }
        counts_.nodes += half ? 1 : 0;
        const graph::NodeId added = out_.add_node(std::move(node), names);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] == ValueId::none) continue;
            made_[index(outputs[i])] = out_.node(added).outputs[i];
            out_.set_type(out_.node(added).outputs[i], widened(value(outputs[i]).type));
        }
    }

    static void widen(std::string_view key, graph::Attribute& attribute) {
        const bool names_type = key == "to" || key == "dtype";
        if (auto* number = std::get_if<std::int64_t>(&attribute); number != nullptr && names_type) {
            for (const ElementType half : {ElementType::f16, ElementType::bf16})
                if (*number == graph::onnx_code_of(half)) *number = graph::onnx_code_of(ElementType::f32);
        } else if (auto* tensor = std::get_if<Tensor>(&attribute);
                   tensor != nullptr && is_half(tensor->type())) {
            *tensor = widened(*tensor);
        }
    }

    // The model's outputs keep their names, also where a Cast now makes them.
    [[nodiscard]] std::string output_name(ValueId id) const {
        return is_half_output(id) ? value(id).name + ".f32" : value(id).name;
    }
    ValueId output(ValueId id) {
        const ValueId made = made_[index(id)];
        return is_half_output(id) ? cast(made, value(id).type.element, value(id).name) : made;
    }

    ValueId cast(ValueId from, ElementType to, const std::string& name) {
        Node node;
        node.op = graph::op::Cast;
        node.name = name + ".cast";
        node.inputs = {from};
        node.attributes = {{"to", graph::onnx_code_of(to)}};
        graph::TensorType type = out_.value(from).type;
        type.element = to;
        const ValueId made = out_.node(out_.add_node(std::move(node), std::span(&name, 1))).outputs[0];
        out_.set_type(made, std::move(type));
        return made;
    }

    const Graph& from_;
    Where where_;
    Widened& counts_;
    std::vector<ValueId> made_;
    Graph out_;
};

}  // namespace

Result<Widened> as_f32(const Graph& graph) {
    Widened result;
    if (!graph.states().empty())
        return fail(ErrorCode::unsupported, "leave `--as` out, or make the training step of an f32 model",
                    "the model has states, which keep their types from run to run");
    VIRIDIAN_TRY(const auto order, topological_order(graph));
    result.graph = WideningPass(graph, Where::model, result).run(order);
    VIRIDIAN_TRY(graph::infer_types(result.graph));
    return result;
}

}  // namespace viridian::session
