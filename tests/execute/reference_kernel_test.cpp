// Nodes that a plan leaves to the reference kernels.
#include "tests/execute/networks.hpp"

namespace viridian::execute {
namespace {

using graph::Graph;
using graph::Tensor;

// The largest of a mebi of equal numbers, if the input says so: 4 MiB that no plan knows of.
Graph wide_branch() {
    const auto largest = [](std::int64_t edge) {
        Graph branch;
        const auto shape = branch.add_constant("n", Tensor::i64({2}, std::vector<std::int64_t>{edge, edge}));
        branch.set_outputs({branch.add("ReduceMax", {branch.add("ConstantOfShape", {shape})},
                                       {{"keepdims", std::int64_t{0}}})});
        EXPECT_TRUE(infer_types(branch).ok());
        return std::make_shared<const Graph>(std::move(branch));
    };
    Graph graph;
    graph::Node node;
    node.op = "If";
    node.inputs = {graph.add_input("wide", {graph::ElementType::boolean, graph::Shape{}})};
    node.bodies = {largest(1024), largest(1)};
    graph.set_outputs(graph.node(graph.add_node(node, 1)).outputs);
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(ReferenceKernel, BodiesStayWithinTheMemoryOfTheDevice) {
    const Graph graph = wide_branch();
    Tensor wide(graph::ElementType::boolean, {});
    wide.mutable_bytes()[0] = std::byte{1};
    for (const std::int64_t mebibytes : {1, 16}) {
        auto device =
            make_cpu_device({.threads = 1, .pin = false, .allowances = {}, .memory = Bytes(mebibytes << 20)});
        ASSERT_TRUE(device.ok());
        Prepared prepared = prepare(**device, graph, {});
        const std::vector<Tensor> narrow = {Tensor(graph::ElementType::boolean, {})};
        EXPECT_TRUE(prepared.executable->run(narrow, prepared.outputs).ok());
        const auto ran = prepared.executable->run(std::vector{wide}, prepared.outputs);
        EXPECT_EQ(ran.ok(), mebibytes == 16);
        if (!ran.ok()) {
            EXPECT_EQ(ran.error().code, ErrorCode::limit_exceeded) << ran.error().text();
        }
    }
}

}  // namespace
}  // namespace viridian::execute
