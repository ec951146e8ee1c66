#include "viridian/onnx/import/versions.hpp"

#include <algorithm>
#include <span>

namespace viridian::onnx {
namespace {

using google::protobuf::Message;

struct NewerFields {
    std::string_view message;
    std::vector<int> numbers;
};

// Fields that the message classes (ONNX 1.12) lack and ONNX 1.23 has. All but `overload` (8 of a node, 13 of
// a function) and a function's defaults (11), which are read, say nothing about what a model computes.
std::span<const NewerFields> fields_up_to_newest() {
    static const NewerFields fields[] = {
        {"ModelProto", {26}},
        {"GraphProto", {16}},
        {"NodeProto", {8, 9, 10}},
        {"TensorProto", {16}},
        {"ValueInfoProto", {4}},
        {"TypeProto", {7}},
        {"FunctionProto", {11, 12, 13, 14}},
    };
    return fields;
}

// "field 99 of NodeProto", for the first unknown field of the message or of those in it; "" if there is none.
// Parsing has bounded the depth.
std::string unknown_field(const Message& message) {
    const auto* reflection = message.GetReflection();
    const std::string& type = message.GetDescriptor()->name();
    const auto& unknown = reflection->GetUnknownFields(message);
    const auto row = std::ranges::find(fields_up_to_newest(), type, &NewerFields::message);
    for (int i = 0; i < unknown.field_count(); ++i) {
        const int number = unknown.field(i).number();
        if (row == fields_up_to_newest().end() ||
            std::ranges::find(row->numbers, number) == row->numbers.end())
            return fmt::format("field {} of {}", number, type);
    }
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const auto* field : fields) {
        if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
        const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
        for (int i = 0; i < count; ++i) {
            const Message& part = field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                                       : reflection->GetMessage(message, field);
            if (std::string found = unknown_field(part); !found.empty()) return found;
        }
    }
    return "";
}

bool is_signed_integer(graph::ElementType type) {
    return type == graph::ElementType::i8 || type == graph::ElementType::i16 ||
           type == graph::ElementType::i32 || type == graph::ElementType::i64;
}

}  // namespace

Result<void> check_ir_version(const ModelProto& model, std::string_view name, Listener* listener) {
    if (model.ir_version() <= newest_ir_version) return {};
    if (const std::string field = unknown_field(model); !field.empty())
        return fail(ErrorCode::unsupported,
                    fmt::format("export the model for IR version {} or older", newest_ir_version),
                    "`{}` has IR version {} and uses {}, which is not known here (up to IR version {})", name,
                    model.ir_version(), field, newest_ir_version);
    if (listener != nullptr)
        listener->note(
            fmt::format("`{}` has IR version {}, newer than {}, but uses no field that is not known.", name,
                        model.ir_version(), newest_ir_version));
    return {};
}

Opsets opsets_of(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports) {
    Opsets opsets;
    for (const auto& import : imports)
        opsets[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
    return opsets;
}

Result<Opsets> check_opsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports,
                            std::string_view name) {
    Opsets opsets = opsets_of(imports);
    for (const auto& [domain, version] : opsets)
        if (version < 1 || version > 100'000)
            return fail(ErrorCode::malformed, "export the model again",
                        "`{}` imports version {} of the operators `{}`", name, version, domain);
    if (const auto found = opsets.find(""); found != opsets.end() && found->second > newest_opset)
        return fail(ErrorCode::unsupported,
                    fmt::format("export the model with operator set {} or older, or convert it with "
                                "onnx.version_converter.convert_version(model, {})",
                                newest_opset, newest_opset),
                    "`{}` uses operator set {}; the newest whose operators are known here is {}", name,
                    found->second, newest_opset);
    return opsets;
}

void check_newest_meaning(Context& context, const graph::Graph& graph, const graph::Node& node,
                          const NodeProto& proto) {
    if (!node.op.domain().empty()) return;
    if (node.op == graph::op::SpaceToDepth && node.get("mode", std::string("DCR")) != "DCR")
        context.unsupported.add(fmt::format("node {} orders blocks by column first", name_of(proto)));
    if (node.op != graph::op::BitShift || node.input(0) == graph::ValueId::none) return;
    if (const auto type = graph.value(node.input(0)).type.element; is_signed_integer(type))
        context.unsupported.add(
            fmt::format("node {} shifts signed integers ({})", name_of(proto), graph::name_of(type)));
}

}  // namespace viridian::onnx
