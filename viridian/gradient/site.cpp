#include "viridian/gradient/rule.hpp"

#include "viridian/graph/infer.hpp"

namespace viridian::gradient {

Site::Site(Builder& builder, NodeId id, std::span<const ValueId> gradients, std::vector<bool> wanted)
    : b(builder), id_(id), gradients_(gradients), wanted_(std::move(wanted)) {}

Term Site::output(std::size_t i, std::string_view name) {
    if (node().output(i) == ValueId::none)
        b.graph().add_output(id_, i, fmt::format("{}.{}", node().name, name));
    if (auto typed = infer_node_types(b.graph(), id_); !typed.ok()) throw Refusal{typed.error()};
    return y(i);
}

void Site::become(graph::KnownOperator op, Attributes attributes, const Meaning& meaning) {
    Node changed = node();
    std::vector<Term> inputs;
    for (const ValueId input : changed.inputs) inputs.push_back(b.value(input));
    changed.op = op;
    changed.attributes = std::move(attributes);
    changed.bodies = {b.body(op, inputs, meaning)};
    b.graph().set_node(id_, std::move(changed));
    if (auto typed = infer_node_types(b.graph(), id_); !typed.ok()) throw Refusal{typed.error()};
}

Dims Site::integers(std::size_t i, std::string_view what) const {
    const Tensor* tensor = b.constant(x(i));
    if (tensor == nullptr) refuse(fmt::format("its {} are not constant", what));
    return tensor->integers();
}

void Site::refuse(std::string_view reason) const {
    throw Refusal{fail(ErrorCode::unsupported, "", "{}", reason)};
}

}  // namespace viridian::gradient
