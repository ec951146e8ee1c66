#include "viridian/cost/recorded.hpp"

#include "viridian/base/json.hpp"

#include <gmock/gmock.h>

#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/cost/recording.hpp"
#include "viridian/cost/synthetic.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::cost {
namespace {

using testing::HasSubstr;

graph::Graph two_convolutions() {
    graph::Graph graph;
    auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 16, 14, 14})});
    for (int i = 0; i < 2; ++i) {
        const auto w = graph.add_constant("w", graph::Tensor(graph::ElementType::f32, {16, 16, 3, 3}));
        x = graph.add("Conv", {x, w}, {{"pads", graph::Dims{1, 1, 1, 1}}}, fmt::format("conv{}", i));
        x = graph.add("Relu", {x});
    }
    graph.set_outputs({x});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(Processor, TheCommittedFileIsTheDefaultProcessor) {
    const auto text = read_file(tests::source_folder() / "benchmarks/eago/processor.json");
    ASSERT_TRUE(text.ok());
    const auto json = parse_json(*text, "processor.json");
    ASSERT_TRUE(json.ok()) << json.error().text();
    const auto processor = processor_from_json(*json);
    ASSERT_TRUE(processor.ok()) << processor.error().text();
    EXPECT_EQ(to_json(*processor), to_json(Processor{}));
    EXPECT_EQ(recorded_from_json(*json)->provenance, "estimated:synthetic-gpu");
}

TEST(Processor, EveryMemberIsChecked) {
    const Json good = to_json(Processor{});
    for (const auto& [member, value] : good.items()) {
        Json bad = good;
        bad.erase(member);
        EXPECT_FALSE(processor_from_json(bad).ok()) << member;
        bad[member] = nullptr;
        EXPECT_FALSE(processor_from_json(bad).ok()) << member;
    }
    Json bad = good;
    bad["watts"]["idle"] = -1;
    EXPECT_THAT(processor_from_json(bad).error().message, HasSubstr("idle"));
    bad = good;
    bad["others"][1]["seconds"] = {2, 1};
    EXPECT_FALSE(processor_from_json(bad).ok());
    bad = good;
    bad["convolutions"][0]["channels_last"] = true;  // a graph of unknown rank would have no kernel
    EXPECT_FALSE(processor_from_json(bad).ok());
    EXPECT_FALSE(processor_from_json(Json::array()).ok());
}

TEST(Recording, AnswersWhatWasHeardAndNothingElse) {
    const graph::Graph graph = two_convolutions();
    const auto regions = plan::candidate_regions(graph);
    ASSERT_TRUE(regions.ok());
    Recording recording;
    recording.device = "synthetic";
    const PriceSource heard = recording.recorded(synthetic(7));
    const plan::Format nchw{plan::plain(4), graph::ElementType::f32, {}};
    const plan::Format nhwc{plan::channels_last(4), graph::ElementType::f32, {}};
    const graph::Dims dims = {1, 16, 14, 14};
    std::vector<std::vector<PricedChoice>> lists;
    for (const plan::Region& region : *regions) lists.push_back(*heard.choices(graph, region));
    const Price price = *heard.conversion(dims, nchw, nhwc);

    const auto again = recorded_from_json(*parse_json(recording.to_json().dump(), "recording"));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(again->device, "synthetic");
    EXPECT_EQ(again->provenance, "estimated:synthetic-gpu");
    for (std::size_t r = 0; r < regions->size(); ++r) {
        const auto list = again->source.choices(graph, (*regions)[r]);
        ASSERT_TRUE(list.ok());
        ASSERT_EQ(list->size(), lists[r].size());
        for (std::size_t i = 0; i < list->size(); ++i) {
            EXPECT_EQ((*list)[i].choice, lists[r][i].choice);
            EXPECT_DOUBLE_EQ((*list)[i].price.seconds.value, lists[r][i].price.seconds.value);
            EXPECT_DOUBLE_EQ((*list)[i].price.energy.value.value, lists[r][i].price.energy.value.value);
            EXPECT_EQ((*list)[i].price.energy.provenance.text(), "estimated:synthetic-gpu");
        }
    }
    EXPECT_DOUBLE_EQ(again->source.conversion(dims, nchw, nhwc)->seconds.value, price.seconds.value);
    EXPECT_EQ(again->source.conversion(dims, nhwc, nchw).error().code, ErrorCode::missing_entry);

    graph::Graph other;
    const auto x = other.add_input("x", {graph::ElementType::f32, graph::shape_of({3})});
    other.set_outputs({other.add("Tanh", {x}, {}, "unheard")});
    ASSERT_TRUE(infer_types(other).ok());
    const auto missing = again->source.choices(other, plan::candidate_regions(other)->front());
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::missing_entry);
    EXPECT_THAT(missing.error().message, HasSubstr("unheard"));
}

TEST(Recording, WhatIsNoRecordingIsRefused) {
    const std::string head = R"({"schema":"viridian.recording/1","device":"d","provenance":"estimated:x",)";
    for (const std::string& text : {
             std::string("[]"),
             std::string(R"({"schema":"viridian.recording/2"})"),
             std::string(R"({"schema":7})"),
             std::string(R"({"schema":"viridian.recording/1"})"),
             head + R"("choices":[{}],"regions":{},"conversions":{}})",
             head + R"("choices":[],"regions":{"zz":[]},"conversions":{}})",
             head + R"("choices":[],"regions":{"00":[[0,1,1]]},"conversions":{}})",
             head + R"("choices":[],"regions":{},"conversions":{"a":[-1,0]}})",
             head + R"("choices":[],"regions":{},"conversions":{"a":[1]}})",
         }) {
        const auto recorded = recorded_from_json(*parse_json(text, "text"));
        ASSERT_FALSE(recorded.ok()) << text;
        EXPECT_FALSE(recorded.error().next_step.empty());
    }
    EXPECT_TRUE(
        recorded_from_json(*parse_json(head + R"("choices":[],"regions":{},"conversions":{}})", "")).ok());
}

}  // namespace
}  // namespace viridian::cost
