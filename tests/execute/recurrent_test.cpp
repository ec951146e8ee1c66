#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

// A random layer; its weights are scaled so that gates are neither saturated nor all alike.
Graph recurrent(const std::string& op, Random& random) {
    const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    const std::int64_t steps = random.between(1, 5), batch = random.between(1, 4);
    const std::int64_t width = random.between(1, 40), hidden = random.between(1, 70);
    const std::string direction = random.chance(0.4)   ? "bidirectional"
                                  : random.chance(0.5) ? "reverse"
                                                       : "forward";
    const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
    const bool batch_first = random.chance(0.3);
    Graph graph;
    const auto state = batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
    std::vector<ValueId> inputs = {
        graph.add_input("x", f32(batch_first ? Dims{batch, steps, width} : Dims{steps, batch, width})),
        graph.add_constant("w", random_tensor(random, {directions, gates * hidden, width})),
        graph.add_constant("r", random_tensor(random, {directions, gates * hidden, hidden}))};
    const bool biased = random.chance(0.7), started = random.chance(0.5);
    inputs.push_back(biased ? graph.add_constant("b", random_tensor(random, {directions, 2 * gates * hidden}))
                            : ValueId::none);
    inputs.push_back(ValueId::none);
    if (started) {
        inputs.push_back(random.chance(0.5) ? graph.add_input("h", f32(state))
                                            : graph.add_constant("h", random_tensor(random, state)));
        if (op == "LSTM") inputs.push_back(graph.add_input("c", f32(state)));
    }
    graph::Node node;
    node.op = op;
    node.name = "layer";
    node.inputs = inputs;
    node.attributes["hidden_size"] = hidden;
    node.attributes["direction"] = direction;
    node.attributes["layout"] = std::int64_t{batch_first};
    if (op == "GRU") node.attributes["linear_before_reset"] = std::int64_t{random.chance(0.5)};
    if (op == "RNN" && random.chance(0.5))
        node.attributes["activations"] =
            std::vector<std::string>(static_cast<std::size_t>(directions), "Relu");
    const auto id = graph.add_node(node, op == "LSTM" ? 3 : 2);
    std::vector<ValueId> outputs = graph.node(id).outputs;
    if (random.chance(0.5)) outputs.erase(outputs.begin() + random.between(0, std::ssize(outputs) - 1));
    graph.set_outputs(outputs);
    return graph;
}

TEST(Recurrent, EveryLayerOnAnyThreads) {
    Random random(1);
    for (const int threads : {1, 2, 5}) {
        const auto device = test_device(threads);
        for (const std::string op : {"RNN", "GRU", "LSTM"}) {
            bool shared = false;
            for (int i = 0; i < 20; ++i) {
                const auto tried = check_region(*device, recurrent(op, random), random, 3e-6);
                ASSERT_GE(tried.size(), 2U) << op;
                EXPECT_EQ(tried[0], "simd:recurrent");
                shared = shared || tried[1] == "simd:recurrent:shared";
            }
            EXPECT_EQ(shared, threads > 1) << op;
        }
    }
}

// Peepholes, clipping and other functions are the reference's.
TEST(Recurrent, RestIsLeftToTheReference) {
    Random random(2);
    const auto device = test_device();
    for (int what = 0; what < 3; ++what) {
        Graph graph;
        graph::Node node;
        node.op = "LSTM";
        node.inputs = {graph.add_input("x", f32({2, 1, 3})),
                       graph.add_constant("w", random_tensor(random, {1, 20, 3})),
                       graph.add_constant("r", random_tensor(random, {1, 20, 5}))};
        node.attributes["hidden_size"] = std::int64_t{5};
        if (what == 0) node.attributes["clip"] = 0.5;
        if (what == 1)
            node.attributes["activations"] = std::vector<std::string>{"HardSigmoid", "Tanh", "Tanh"};
        if (what == 2) node.attributes["input_forget"] = std::int64_t{1};
        graph.set_outputs({graph.node(graph.add_node(node, 1)).outputs[0]});
        EXPECT_EQ(check_region(*device, graph, random, 0), std::vector<std::string>{"reference"});
    }
}

}  // namespace
}  // namespace viridian::execute
