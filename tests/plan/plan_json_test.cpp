// Sidecars that are wrong in one place: a sentence, never a crash.
#include <gmock/gmock.h>

#include "viridian/graph/infer.hpp"
#include "viridian/plan/plan.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;

Graph residual() {
    Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 2, 2})});
    const auto weights = graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {8, 8, 1, 1}));
    const auto conv = graph.add("Conv", {x, weights}, {}, "conv");
    graph.set_outputs({graph.add("Add", {conv, x}, {}, "sum")});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

Json sidecar(const Graph& graph) {
    const auto hash = fmt::format("{:016x}", structural_hash(graph));
    const auto text =
        R"({"schema": "viridian.plan/1", "graph": ")" + hash + R"(", "device": "d", "library": "l",
        "threads": 2, "predicted": {"seconds": 0.1, "joules": {"value": 1, "low": 0.5, "high": 2,
        "provenance": "estimated:x"}}, "solver": "exact", "value": 1, "bound": 1, "regions": [
        {"nodes": ["conv"], "choice": {"kernel": "k", "inputs": ["nChw8c:f32"], "outputs": ["nChw8c:f32"],
         "aliasing": "none", "workspace_bytes": 64}},
        {"nodes": ["sum"], "choice": {"kernel": "k", "inputs": ["nChw8c:f32", "nChw8c:f32"],
         "outputs": ["nChw8c:f32"], "aliasing": "overwrite", "overwritten": 0, "workspace_bytes": 0}}],
        "conversions": [{"value": "x", "from": "nchw:f32", "to": "nChw8c:f32"},
                        {"value": "sum", "from": "nChw8c:f32", "to": "nchw:f32"}]})";
    return *parse_json(text, "sidecar");
}

TEST(PlanJson, ComesBackAsWritten) {
    const Graph graph = residual();
    const auto plan = plan_from_json(graph, sidecar(graph));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_EQ(to_json(graph, *plan), sidecar(graph));
}

// Every place in turn is removed or holds something else: an error with a next step, or another plan that is
// itself whole.
TEST(PlanJson, AnythingInAnyPlaceIsAnErrorOrAPlan) {
    const Graph graph = residual();
    const Json good = sidecar(graph);
    const std::vector<Json> strange = {nullptr,
                                       true,
                                       -1,
                                       5,
                                       1e300,
                                       std::numeric_limits<std::int64_t>::max(),
                                       "",
                                       "x",
                                       "nchw:f32:9223372036854775807,1,1,1+9",
                                       "nChw0c:f32",
                                       "nChw999999999c:f32",
                                       Json::array(),
                                       Json::object(),
                                       Json::array({1, "x"})};
    int refused = 0;
    const Json flat = good.flatten();
    for (const auto& [place, leaf] : flat.items()) {
        for (const Json& replacement : strange) {
            for (auto at = Json::json_pointer(place); !at.empty(); at.pop_back()) {
                Json changed = good;
                changed[at] = replacement;
                const auto plan = plan_from_json(graph, changed);
                if (!plan.ok()) {
                    EXPECT_FALSE(plan.error().message.empty() || plan.error().next_step.empty())
                        << changed.dump();
                    ++refused;
                } else {
                    EXPECT_TRUE(plan_from_json(graph, to_json(graph, *plan)).ok()) << changed.dump();
                }
            }
        }
    }
    EXPECT_GT(refused, 500);
}

TEST(PlanJson, NamesTheRegionWhosePortsDoNotFit) {
    const Graph graph = residual();
    Json json = sidecar(graph);
    json["regions"][1]["choice"]["inputs"].erase(0);
    const auto plan = plan_from_json(graph, json);
    ASSERT_FALSE(plan.ok());
    EXPECT_THAT(plan.error().message,
                testing::HasSubstr("`sum` 1 and 1 formats for its 2 inputs and 1 outputs"));
}

}  // namespace
}  // namespace viridian::plan
