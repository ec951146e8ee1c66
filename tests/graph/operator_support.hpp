#pragma once
// Runs one operator over constants: shapes inferred, evaluated, and both compared.
#include <gtest/gtest.h>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::graph {

inline Tensor floats(Dims dims, const std::vector<float>& values) {
    return Tensor::f32(std::move(dims), values);
}
inline Tensor integers(Dims dims, const Dims& values) { return Tensor::i64(std::move(dims), values); }
// 0, step, 2·step, … in the given shape.
inline Tensor counting(Dims dims, float step = 1, float first = 0) {
    Tensor tensor(ElementType::f32, std::move(dims));
    float next = first;
    for (float& value : tensor.mutable_values<float>()) {
        value = next;
        next += step;
    }
    return tensor;
}

// An input whose type is undefined is left out.
inline Result<std::vector<Tensor>> run_operator(const std::string& op, const std::vector<Tensor>& inputs,
                                                Attributes attributes = {}, std::size_t output_count = 1,
                                                const std::string& domain = "") {
    Graph graph;
    Node node;
    node.op = graph::Operator(op, domain);
    node.attributes = std::move(attributes);
    for (const Tensor& input : inputs)
        node.inputs.push_back(input.type() == ElementType::undefined ? ValueId::none
                                                                     : graph.add_constant("x", input));
    const NodeId id = graph.add_node(std::move(node), output_count);
    graph.set_outputs(graph.node(id).outputs);
    VIRIDIAN_TRY(infer_types(graph));
    VIRIDIAN_TRY(std::vector<Tensor> outputs, evaluate(graph, {}));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const TensorType& inferred = graph.value(graph.outputs()[i]).type;
        EXPECT_EQ(inferred.element, outputs[i].type()) << op << " output " << i;
        if (inferred.known()) {
            EXPECT_EQ(inferred.dims(), outputs[i].dims()) << op << " output " << i;
        }
    }
    return outputs;
}

inline Tensor run(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
    const auto outputs = run_operator(op, inputs, std::move(attributes));
    EXPECT_TRUE(outputs.ok()) << op << ": " << (outputs.ok() ? "" : outputs.error().text());
    return outputs.ok() ? (*outputs)[0] : Tensor();
}

inline void expect_floats(const Tensor& tensor, const Dims& dims, const std::vector<double>& values,
                          double tolerance = 1e-5) {
    EXPECT_EQ(tensor.dims(), dims);
    ASSERT_EQ(tensor.count(), static_cast<std::int64_t>(values.size()));
    for (std::int64_t i = 0; i < tensor.count(); ++i)
        EXPECT_NEAR(tensor.number(i), values[static_cast<std::size_t>(i)], tolerance) << "element " << i;
}

}  // namespace viridian::graph
