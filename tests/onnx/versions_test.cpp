// Models of newer IR versions and operator sets than this reader knows.
#include <gtest/gtest.h>

#include "tests/onnx/models.hpp"
#include "viridian/base/listener.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using tests::add_node;
using tests::empty_model;
using tests::set_tensor;
using tests::small_model;

struct VersionNotes final : Listener {
    void note(const std::string& text) override { texts.push_back(text); }
    std::vector<std::string> texts;
};

Result<graph::Graph> read(const ModelProto& model, Listener* listener = nullptr) {
    return parse(model.SerializeAsString(), "m.onnx", {}, listener);
}

std::string message(const Result<graph::Graph>& result) {
    return result.ok() ? "no error" : result.error().message;
}

// x, of `element` → op → y.
ModelProto model_of(const std::string& op, int opset, int element = ::onnx::TensorProto::FLOAT) {
    ModelProto model = empty_model(opset);
    set_tensor(*model.mutable_graph()->add_input(), "x", {1, 4, 4, 4});
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(element);
    set_tensor(*model.mutable_graph()->add_output(), "y", {});
    add_node(*model.mutable_graph(), op, {"x"}, {"y"});
    return model;
}

void add_unknown_field(google::protobuf::Message& part, int number) {
    part.GetReflection()->MutableUnknownFields(&part)->AddLengthDelimited(number, "");
}

TEST(Versions, ANewerIrVersionIsNotedIfEveryFieldIsKnown) {
    ModelProto model = small_model();
    VersionNotes notes;
    model.set_ir_version(newest_ir_version);
    ASSERT_TRUE(read(model, &notes).ok());
    EXPECT_TRUE(notes.texts.empty());

    model.set_ir_version(newest_ir_version + 1);
    add_unknown_field(*model.mutable_graph()->mutable_node(0), 9);  // metadata_props, of IR version 10
    ASSERT_TRUE(read(model, &notes).ok()) << message(read(model));
    EXPECT_EQ(notes.texts,
              std::vector<std::string>{
                  "`m.onnx` has IR version 15, newer than 14, but uses no field that is not known."});
    EXPECT_TRUE(read(model).ok());
}

TEST(Versions, ANewerIrVersionIsRefusedIfAFieldIsUnknown) {
    ModelProto model = small_model();
    add_unknown_field(*model.mutable_graph()->mutable_node(1), 99);
    EXPECT_TRUE(read(model).ok());  // of a known version it can only be a private extension
    model.set_ir_version(newest_ir_version + 1);
    const auto graph = read(model);
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.error().code, ErrorCode::unsupported);
    EXPECT_EQ(graph.error().message,
              "`m.onnx` has IR version 15 and uses field 99 of NodeProto, which is not known here (up to IR "
              "version "
              "14)");
}

TEST(Versions, OperatorSetsUpToTheNewestAreRead) {
    VersionNotes notes;
    const auto graph = read(model_of("Relu", newest_opset), &notes);
    EXPECT_TRUE(graph.ok()) << message(graph);
    EXPECT_TRUE(notes.texts.empty());
    const auto newer = read(model_of("Relu", newest_opset + 1));
    ASSERT_FALSE(newer.ok());
    EXPECT_EQ(
        newer.error().text(),
        "`m.onnx` uses operator set 29; the newest whose operators are known here is 28. export the model "
        "with "
        "operator set 28 or older, or convert it with onnx.version_converter.convert_version(model, 28).");
}

TEST(Versions, AFunctionOfANewerOperatorSetIsRefused) {
    ModelProto model = small_model();
    auto& function = *model.add_functions();
    function.set_domain("d");
    function.set_name("F");
    function.add_input("a");
    function.add_output("b");
    add_node(function, "Relu", {"a"}, {"b"});
    auto* import = function.add_opset_import();
    model.add_opset_import()->set_domain("d");
    model.mutable_opset_import(1)->set_version(1);
    add_node(*model.mutable_graph(), "F", {"y"}, {"z"}).set_domain("d");
    import->set_version(newest_opset);
    EXPECT_TRUE(read(model).ok()) << message(read(model));
    import->set_version(newest_opset + 1);
    EXPECT_NE(message(read(model)).find("uses operator set 29"), std::string::npos) << message(read(model));
}

TEST(Versions, WhatOperatorSet28ChangedIsRefusedByName) {
    EXPECT_NE(message(read(model_of("SwiGLU", 28))).find("SwiGLU (node: `make_y`)"), std::string::npos)
        << message(read(model_of("SwiGLU", 28)));

    ModelProto blocks = model_of("SpaceToDepth", 28);
    NodeProto& node = *blocks.mutable_graph()->mutable_node(0);
    auto& size = *node.add_attribute();
    size.set_name("blocksize");
    size.set_type(::onnx::AttributeProto::INT);
    size.set_i(2);
    EXPECT_TRUE(read(blocks).ok()) << message(read(blocks));
    auto& mode = *node.add_attribute();
    mode.set_name("mode");
    mode.set_type(::onnx::AttributeProto::STRING);
    mode.set_s("CRD");
    EXPECT_EQ(
        message(read(blocks)),
        "`m.onnx` uses what is not supported: node `make_y` (SpaceToDepth) orders blocks by column first");

    for (const auto& [element, known] :
         {std::pair(::onnx::TensorProto::UINT8, true), std::pair(::onnx::TensorProto::INT32, false)}) {
        ModelProto shift = model_of("BitShift", 28, element);
        NodeProto& shifted = *shift.mutable_graph()->mutable_node(0);
        shifted.add_input("x");
        auto& direction = *shifted.add_attribute();
        direction.set_name("direction");
        direction.set_type(::onnx::AttributeProto::STRING);
        direction.set_s("RIGHT");
        EXPECT_EQ(
            message(read(shift)),
            known ? "no error"
                  : "`m.onnx` uses what is not supported: node `make_y` (BitShift) shifts signed integers "
                    "(i32)");
    }
}

}  // namespace
}  // namespace viridian::onnx
