// Sidecars that are wrong in one place: a sentence, never a crash.
#include <gmock/gmock.h>

#include "viridian/base/json.hpp"
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
        R"({"schema": "viridian.plan/2", "graph": ")" + hash + R"(", "device": "d", "library": "l",
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

TEST(PlanJson, EveryFieldThatIsReadIsRequired) {
    const Graph graph = residual();
    for (const char* place :
         {"/schema", "/graph", "/device", "/library", "/threads", "/predicted", "/predicted/seconds",
          "/predicted/joules", "/predicted/joules/low", "/solver", "/value", "/bound", "/regions",
          "/conversions", "/regions/0/nodes", "/regions/0/choice/kernel"}) {
        const Json::json_pointer at(place);
        Json json = sidecar(graph);
        json[at.parent_pointer()].erase(at.back());
        const auto plan = plan_from_json(graph, json);
        ASSERT_FALSE(plan.ok()) << place;
        EXPECT_FALSE(plan.error().next_step.empty()) << place;
    }
}

TEST(PlanJson, RefusesWhatNoSolverSaysOfItsPlan) {
    const Graph graph = residual();
    const auto refused = [&](const char* place, const Json& value) {
        Json json = sidecar(graph);
        json[Json::json_pointer(place)] = value;
        return !plan_from_json(graph, json).ok();
    };
    EXPECT_FALSE(refused("/solver", "newer-solver-2"));
    EXPECT_TRUE(refused("/solver", ""));
    EXPECT_TRUE(refused("/solver", "<b>exact</b>"));
    EXPECT_TRUE(refused("/bound", 2));  // of a value of 1
    EXPECT_TRUE(refused("/value", nullptr));
    EXPECT_FALSE(refused("/bound", nullptr));  // no bound was proven
    EXPECT_TRUE(refused("/predicted/seconds", -1));
    EXPECT_TRUE(refused("/conversions/0/to", "nChw8c:i32"));
    EXPECT_TRUE(refused("/conversions/0/to", "ab:f32"));
    EXPECT_TRUE(refused("/conversions/0/to", "Nchw1n1n1n1n1n1n1n1n1n1n1n1n1n1n:f32"));
}

// A port whose format has another rank or element type than its value, or whose elements lie before the start
// of the buffer or too far from it.
TEST(PlanJson, RefusesPortsThatCannotHoldTheirValues) {
    const Graph graph = residual();
    const auto refused = [&](const char* place, const char* format) {
        Json json = sidecar(graph);
        json[Json::json_pointer(place)] = format;
        const auto plan = plan_from_json(graph, json);
        const std::string why = plan.ok() ? "" : plan.error().message;
        return why.find(format) != std::string::npos && why.find("cannot hold it") != std::string::npos;
    };
    for (const char* place : {"/regions/0/choice/inputs/0", "/regions/0/choice/outputs/0",
                              "/regions/1/choice/inputs/1", "/regions/1/choice/outputs/0"}) {
        for (const char* format :
             {"a:1:f32", "abcdefghijklmnopqrstuvwxyz:f32", "scalar:f32", "nchw:1,9223372036854775807,1,1:f32",
              "nchw:-1,-1,-1,-1:f32", "nchw:32,4,2,1+281474976710656:f32", "nchw:32,4,2,1+-1:f32",
              "Nchw4096n4096n4096n4096n4096n4096n:f32", "nChw1c1c1c1c1c:f32", "nChw8c:i64", "nChw8c:f16"})
            EXPECT_TRUE(refused(place, format)) << place << ' ' << format;
        EXPECT_FALSE(refused(place, "nChw8c:f32")) << place;
    }
}

// A kernel's output that is no smaller than what it would lie in, in the caller's memory, or no Concat's.
TEST(PlanJson, RefusesMemoryThatIsNotThere) {
    Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 4, 4})});
    const auto small = graph.add("MaxPool", {x}, {{"kernel_shape", graph::Dims{2, 2}}}, "small");
    const auto padding =
        graph.add_constant("p", graph::Tensor::i64({8}, std::array<std::int64_t, 8>{0, 0, 1, 1, 0, 0, 1, 1}));
    const auto large = graph.add("Pad", {small, padding}, {}, "large");
    graph.set_outputs({graph.add("Relu", {large}, {}, "end")});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    const Format format{plain(4), graph::ElementType::f32, {}};
    const auto lay_out = [&](std::size_t region, Aliasing aliasing) {
        Assignment assignment;
        const auto uses = graph::uses(graph);
        for (const graph::NodeId id : graph.nodes())
            assignment.regions.push_back(
                {make_region(graph, uses, {id}), {"k", {format}, {format}, Aliasing::none, 0, {}, {}}});
        assignment.regions[region].choice.aliasing = aliasing;
        return make_plan(graph, std::move(assignment)).ok();
    };
    EXPECT_TRUE(lay_out(0, Aliasing::none));
    EXPECT_FALSE(lay_out(0, Aliasing::overwrite));  // the caller's input
    EXPECT_FALSE(lay_out(1, Aliasing::overwrite));
    EXPECT_FALSE(lay_out(1, Aliasing::view));
    EXPECT_FALSE(lay_out(0, Aliasing::gather));
    EXPECT_TRUE(lay_out(2, Aliasing::overwrite));
}

}  // namespace
}  // namespace viridian::plan
