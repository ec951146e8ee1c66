// rooms: plan graph base
// A plan's sidecar, read for a small network and for one with a state: any text is a plan that survives being
// written and read, or an error.
#include <cstddef>

#include "viridian/base/json.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/plan/plan.hpp"

namespace {

using namespace viridian;

graph::Tensor zeros(graph::Dims dims) { return {graph::ElementType::f32, std::move(dims)}; }

// A residual block with a concatenation and a view, so that every aliasing has a place.
graph::Graph network() {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 16, 4, 4})});
    const auto weights = graph.add_constant("w", zeros({16, 16, 1, 1}));
    const auto shape =
        graph.add_constant("shape", graph::Tensor::i64({2}, std::array<std::int64_t, 2>{1, 512}));
    const auto conv = graph.add("Conv", {x, weights}, {}, "conv");
    const auto sum = graph.add("Add", {conv, x}, {}, "sum");
    const auto relu = graph.add("Relu", {sum}, {}, "relu");
    const auto both = graph.add("Concat", {relu, conv}, {{"axis", std::int64_t{1}}}, "both");
    graph.set_outputs({graph.add("Reshape", {both, shape}, {}, "flat")});
    if (!graph::infer_types(graph).ok()) __builtin_trap();
    return graph;
}

// A state that is updated before its other reader in the order of the nodes.
graph::Graph step() {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({4})});
    const auto state = graph.add_state("s", zeros({4}));
    graph.set_after(state, graph.add("Add", {state, x}, {}, "update"));
    graph.set_outputs({graph.add("Mul", {state, x}, {}, "late")});
    if (!graph::infer_types(graph).ok()) __builtin_trap();
    return graph;
}

void read_for(const graph::Graph& graph, Json json) {
    // every kept input belongs to this network
    if (json.contains("graph")) json["graph"] = fmt::format("{:016x}", graph::structural_hash(graph));
    const auto plan = plan::plan_from_json(graph, json);
    if (!plan.ok()) return;
    const Json written = plan::to_json(graph, *plan);
    const auto again = plan::plan_from_json(graph, written);
    if (!again.ok() || plan::to_json(graph, *again) != written) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const graph::Graph plain = network();
    static const graph::Graph stateful = step();
    const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "plan");
    if (!json.ok() || !json->is_object()) return 0;
    read_for(plain, *json);
    read_for(stateful, *json);
    return 0;
}
