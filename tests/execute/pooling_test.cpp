// Pools in f32, and in bf16 where the processor has it, against the reference in f64.
#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

class Pools : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (GetParam()) {
            device_ = bf16_device(2);
            if (!multiplies_bf16()) GTEST_SKIP() << "this processor does not multiply in bf16";
            return;
        }
        auto device = make_cpu_device({.threads = 2, .pin = false, .allowances = {}});
        ASSERT_TRUE(device.ok());
        device_ = *std::move(device);
    }
    std::vector<std::string> check(const Graph& graph) {
        const auto kernels =
            check_region(*device_, graph, random_, 1e-4, GetParam() ? std::optional(2.5e-3) : std::nullopt);
        tried_.insert(tried_.end(), kernels.begin(), kernels.end());
        return kernels;
    }
    Random random_{1};
    std::unique_ptr<Device> device_;
    std::vector<std::string> tried_;
};

TEST_P(Pools, AgreeWithTheReference) {
    for (const char* op : {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"})
        for (const std::int64_t c : {3, 8, 16, 24, 40, 144}) {
            Graph graph;
            const ValueId x = graph.add_input("x", f32({2, c, 9, 11}));
            const bool global = std::string_view(op).starts_with("Global");
            graph.set_outputs({global ? graph.add(op, {x})
                                      : graph.add(op, {x},
                                                  {{"kernel_shape", Dims{3, 3}},
                                                   {"strides", Dims{2, 2}},
                                                   {"pads", Dims{1, 1, 1, 1}}})});
            EXPECT_THAT(check(graph), testing::Contains("simd:pool")) << op << ' ' << c;
        }
}

// Windows that hang over borders, leave cells out, have holes, and rows too long for one slice of channels.
TEST_P(Pools, WindowsOfAnyKind) {
    for (int i = 0; i < 60; ++i) {
        const bool maximum = random_.chance(0.5);
        const Dims kernel = {random_.between(1, 5), random_.between(1, 5)};
        const Dims dilations = {random_.between(1, 2), random_.between(1, maximum ? 3 : 1)};
        Dims pads;
        for (const int side : {0, 1, 0, 1}) {
            const auto axis = static_cast<std::size_t>(side);
            pads.push_back(random_.between(0, kernel[axis] - 1));
        }
        graph::Attributes attributes = {{"kernel_shape", kernel},
                                        {"strides", Dims{random_.between(1, 3), random_.between(1, 3)}},
                                        {"pads", pads},
                                        {"ceil_mode", random_.between(0, 1)}};
        if (maximum) attributes["dilations"] = dilations;
        if (!maximum) attributes["count_include_pad"] = random_.between(0, 1);
        Graph graph;
        const Dims dims = {random_.between(1, 2), i % 3 == 0 ? 200 : random_.between(1, 70),
                           random_.between(9, 20), random_.between(13, 70)};
        graph.set_outputs({graph.add(maximum ? "MaxPool" : "AveragePool", {graph.add_input("x", f32(dims))},
                                     std::move(attributes))});
        check(graph);
    }
    EXPECT_THAT(tried_, testing::Contains("simd:pool"));
}

// NaN of either sign is what a window with one is; infinities and zeroes of either sign are as in f32.
TEST_P(Pools, KeepNanAndInfinities) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), endless = HUGE_VALF;
    const std::vector<float> odd = {nan, -nan, endless, -endless, 0.0F, -0.0F};
    for (const char* op : {"MaxPool", "AveragePool"})
        for (const std::int64_t stride : {1, 2}) {
            Graph graph;
            const ValueId x = graph.add_input("x", f32({2, 40, 12, 13}));
            graph.set_outputs({graph.add(op, {x},
                                         {{"kernel_shape", Dims{3, 3}},
                                          {"strides", Dims{stride, stride}},
                                          {"pads", Dims{1, 1, 1, 1}}})});
            ASSERT_TRUE(infer_types(graph).ok());
            graph::Tensor source = rounded_to_bf16(random_tensor(random_, {2, 40, 12, 13}));
            // A plane of negative numbers, one of nothing but the odd ones, the rest with some.
            auto values = source.mutable_values<float>();
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (i < 156) values[i] = i % 3 == 0 ? -endless : -std::abs(values[i]);
                if (i >= 156 && (i < 312 || random_.chance(0.05)))
                    values[i] = odd[static_cast<std::size_t>(random_.between(0, 5))];
            }
            const auto expected = evaluate(graph, {source});
            ASSERT_TRUE(expected.ok());
            const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
            const auto choices = device_->choices(graph, region);
            ASSERT_TRUE(choices.ok());
            int ours = 0;
            for (std::size_t c = 0; c < choices->size(); ++c) {
                if ((*choices)[c].kernel != "simd:pool") continue;
                ++ours;
                auto assignment =
                    assign(*device_, graph, {region}, [&](const auto&, const auto&) { return c; });
                ASSERT_TRUE(assignment.ok());
                const auto plan = plan::make_plan(graph, *std::move(assignment));
                ASSERT_TRUE(plan.ok());
                auto executable = device_->prepare(graph, *plan);
                ASSERT_TRUE(executable.ok());
                std::vector<graph::Tensor> outputs = {{graph::ElementType::f32, (*expected)[0].dims()}};
                ASSERT_TRUE((*executable)->run(std::vector{source}, outputs).ok());
                for (std::int64_t i = 0; i < outputs[0].count(); ++i) {
                    const double made = outputs[0].number(i), wanted = (*expected)[0].number(i);
                    if (std::isfinite(wanted))
                        EXPECT_NEAR(made, wanted, 0.004) << op << ' ' << i;
                    else
                        EXPECT_TRUE(std::isnan(wanted) ? std::isnan(made) : made == wanted)
                            << op << ' ' << i << ": " << made << ", not " << wanted;
                }
            }
            EXPECT_EQ(ours, GetParam() ? 4 : 3);
        }
}

INSTANTIATE_TEST_SUITE_P(InBf16, Pools, testing::Bool());

}  // namespace
}  // namespace viridian::execute
