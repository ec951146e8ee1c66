#pragma once
// Small models, built as messages, for tests that break them.
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace viridian::tests {

using ::onnx::ModelProto;
using ::onnx::NodeProto;

inline ModelProto empty_model(int opset = 17) {
    ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
    return model;
}

inline void set_tensor(::onnx::ValueInfoProto& info, const std::string& name,
                       const std::vector<std::int64_t>& dims) {
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(::onnx::TensorProto::FLOAT);
    type.mutable_shape();
    for (const std::int64_t dimension : dims) type.mutable_shape()->add_dim()->set_dim_value(dimension);
}

template <class Owner>  // a graph or a function
NodeProto& add_node(Owner& owner, const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs) {
    NodeProto& node = *owner.add_node();
    node.set_op_type(op);
    node.set_name(outputs.empty() ? op : "make_" + outputs[0]);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
}

// x → Relu → Add(·, w) → y, all f32[2,3].
inline ModelProto small_model() {
    ModelProto model = empty_model();
    auto& graph = *model.mutable_graph();
    set_tensor(*graph.add_input(), "x", {2, 3});
    set_tensor(*graph.add_output(), "y", {2, 3});
    auto& weight = *graph.add_initializer();
    weight.set_name("w");
    weight.set_data_type(::onnx::TensorProto::FLOAT);
    weight.add_dims(2);
    weight.add_dims(3);
    weight.set_raw_data(std::string(24, '\1'));
    add_node(graph, "Relu", {"x"}, {"r"});
    add_node(graph, "Add", {"r", "w"}, {"y"});
    return model;
}

}  // namespace viridian::tests
