#include "viridian/optimize/result.hpp"

#include "viridian/base/json.hpp"

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

// Two convolutions of one input: substitutions make kernels of them that the given graph has not.
void write_two_convolutions(const Path& path) {
    graph::Graph graph;
    const auto weights = [&](graph::Dims dims) {
        graph::Tensor tensor(graph::ElementType::f32, std::move(dims));
        float value = 0.1F;
        for (float& w : tensor.mutable_values<float>()) w = value = value > 1 ? value - 1.9F : value + 0.4F;
        return graph.add_constant("w", std::move(tensor));
    };
    const graph::ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 8, 12, 12})});
    const graph::ValueId one = graph.add("Conv", {x, weights({8, 8, 1, 1})}, {}, "one");
    const graph::ValueId other = graph.add("Conv", {x, weights({16, 8, 1, 1})}, {}, "other");
    graph.set_outputs({graph.add("Concat", {one, other}, {{"axis", std::int64_t{1}}}, "both")});
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, path).ok());
}

class OptimizeResult : public testing::Test {
  protected:
    std::string at(const char* name) const { return (folder_ / name).string(); }

    std::string optimize(const std::string& prices, const std::vector<std::string>& more) const {
        std::vector<std::string> all = {"optimize",       at("m.onnx"), "-o",
                                        at("m.opt.onnx"), "--recorded", prices};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome done = run(all);
        EXPECT_EQ(done.code, 0) << done.err;
        return done.out;
    }
    const tests::TemporaryFolder folder_;
};

std::string search_line(const std::string& text) {
    const std::size_t from = text.find("  search   ");
    return from == std::string::npos ? "" : text.substr(from, text.find('\n', from) - from);
}

// Prices of the given graph alone: graphs with other nodes cannot be priced, and that is said.
TEST_F(OptimizeResult, says_how_many_graphs_had_no_price) {
    write_two_convolutions(at("m.onnx"));
    const std::string processor = (tests::source_folder() / "benchmarks/eago/processor.json").string();
    const Json full = *parse_json(optimize(processor, {"--json"}), "stdout");
    EXPECT_EQ(full["search"]["unpriced"], 0);
    EXPECT_GT(full["search"]["graphs"], 1);
    EXPECT_EQ(search_line(optimize(processor, {})).find("left out"), std::string::npos);

    optimize(processor, {"--search", "none", "--record", at("few.json")});
    const Json few = *parse_json(optimize(at("few.json"), {"--json"}), "stdout");
    const int unpriced = few["search"]["unpriced"].get<int>();
    EXPECT_GT(unpriced, 0);
    const std::string told = fmt::format(", {} without a kernel or price left out", unpriced);
    EXPECT_TRUE(search_line(optimize(at("few.json"), {})).ends_with(told));
}

TEST_F(OptimizeResult, says_how_many_graphs_were_crowded_out) {
    optimize::Optimized result;
    result.recorded_file = "prices.json";
    EXPECT_EQ(search_line(text(result)).find("waited"), std::string::npos);
    result.search.crowded_out = 7;
    EXPECT_TRUE(search_line(text(result)).ends_with(", 7 not gone on from: too many cheaper ones waited"));
}

}  // namespace
}  // namespace viridian::cli
