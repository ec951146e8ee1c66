#include <numeric>

#include "tests/execute/every_choice.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

void make_positive(Tensor& variance) {
    for (float& value : variance.mutable_values<float>()) value = std::abs(value) + 0.1F;
}

// Scale, shift and mean are inputs, as in evaluations during training, or constants.
TEST(Normalization, OfBatchesByGivenStatisticsMatchesTheReference) {
    Random random(1);
    for (const int threads : {1, 3}) {
        const auto device = test_device(threads);
        for (int round = 0; round < 4; ++round)
            for (const Dims& dims : {Dims{2, 20, 30, 17}, Dims{3, 5, 4, 4}, Dims{1, 16, 9}, Dims{70, 40}})
                for (const bool constant : {false, true}) {
                    Graph graph;
                    const Dims channels = {dims[1]};
                    const auto parameter = [&](const char* name) {
                        return constant ? graph.add_constant(name, random_tensor(random, channels))
                                        : graph.add_input(name, f32(channels));
                    };
                    const ValueId variance = graph.add_input("variance", f32(channels));
                    const ValueId x = graph.add_input("x", f32(dims));
                    ValueId y =
                        graph.add("BatchNormalization",
                                  {x, parameter("scale"), parameter("shift"), parameter("mean"), variance},
                                  {{"epsilon", 0.01}});
                    switch (random.below(5)) {
                        case 0:
                            y = graph.add("Add", {y, graph.add_input("other", f32(dims))});
                            [[fallthrough]];
                        case 1:
                            y = graph.add("Relu", {y});
                            break;
                        case 2:  // padding that does not stay zero
                            y = graph.add("Sub", {graph.add_constant("one", Tensor::scalar(1.0F)), y});
                            break;
                        case 3:
                            y = graph.add("Mul", {graph.add_constant("all", random_tensor(random, dims)), y});
                            y = graph.add("Clip", {y, graph.add_constant("low", Tensor::scalar(-0.5F)),
                                                   graph.add_constant("high", Tensor::scalar(0.5F))});
                            break;
                        default:
                            break;
                    }
                    graph.set_outputs({y});
                    EXPECT_THAT(check_region(*device, graph, random, 1e-6, std::nullopt, "", make_positive),
                                testing::Contains("simd:batchnorm"));
                }
    }
}

// Files may ask for outputs that only training makes; the reference copies the statistics.
TEST(Normalization, OutputsThatAreStatisticsStayWithTheReference) {
    Random random(2);
    const auto device = test_device();
    Graph graph;
    graph::Node node;
    node.op = "BatchNormalization";
    for (const char* name : {"x", "scale", "shift", "mean", "variance"})
        node.inputs.push_back(graph.add_input(name, f32(node.inputs.empty() ? Dims{2, 4, 3} : Dims{4})));
    const std::vector<ValueId> outputs = graph.node(graph.add_node(node, 3)).outputs;
    graph.set_outputs({outputs[0], outputs[1]});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto choices = device->choices(graph, plan::make_region(graph, graph::uses(graph), graph.nodes()));
    ASSERT_TRUE(choices.ok());
    for (const plan::Choice& choice : *choices) EXPECT_EQ(choice.kernel, "reference");
}

// Rows of every length around vectors and chains of vectors, against sums in double.
TEST(Normalization, SoftmaxOfRowsIsThatOfDouble) {
    Random random(3);
    std::vector<std::int64_t> lengths(80);
    std::iota(lengths.begin(), lengths.end(), 1);
    lengths.insert(lengths.end(), {511, 512, 1500});
    for (const std::int64_t n : lengths) {
        std::vector<float> x(static_cast<std::size_t>(n));
        for (float& value : x)
            value = random.chance(0.1) ? -INFINITY : static_cast<float>(random.uniform(-40, 40));
        x[static_cast<std::size_t>(random.below(x.size()))] = 1;  // at least one is a number
        const double most = static_cast<double>(std::ranges::max(x));
        double total = 0;
        for (const float value : x) total += std::exp(static_cast<double>(value) - most);
        std::vector<float> y(x.size()), z(x.size());
        cpu::simd::softmax_row(y.data(), x.data(), n);
        cpu::simd::log_softmax_row(z.data(), x.data(), n);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double distance = static_cast<double>(x[i]) - most;
            const double probability = std::exp(distance) / total;
            // In f32, x minus the greatest is off by half a unit of its last place.
            const double allowed = 1e-7 * (10 - std::max(distance, -100.0)) * probability + 1e-30;
            EXPECT_NEAR(static_cast<double>(y[i]), probability, allowed) << n;
            if (std::isfinite(x[i]))
                EXPECT_NEAR(static_cast<double>(z[i]), distance - std::log(total), 1e-5) << n;
            else
                EXPECT_TRUE(y[i] == 0 && z[i] == -INFINITY) << n;
        }
        std::vector<float> in_place = x;
        cpu::simd::softmax_row(in_place.data(), in_place.data(), n);
        EXPECT_EQ(in_place, y) << n;
        in_place = x;
        cpu::simd::log_softmax_row(in_place.data(), in_place.data(), n);
        EXPECT_EQ(in_place, z) << n;
    }
}

// x minus the greatest, 0, is exact here, so that this is the error of the exponential and of a short sum.
TEST(Normalization, TheExponentialOfSoftmaxIsAccurateAtAllDistances) {
    for (int shift = 0; shift < 100; ++shift) {
        std::vector<float> x = {0};
        while (x.size() < 1000)
            x.push_back(static_cast<float>(-0.087 * static_cast<double>(x.size()) - 0.00087 * shift));
        double total = 0;
        for (const float value : x) total += std::exp(static_cast<double>(value));
        std::vector<float> y(x.size());
        cpu::simd::softmax_row(y.data(), x.data(), std::ssize(x));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double expected = std::exp(static_cast<double>(x[i])) / total;
            if (expected < 1e-37) break;  // numbers below have fewer digits
            ASSERT_NEAR(static_cast<double>(y[i]) / expected, 1, 2e-6) << x[i];
        }
    }
}

// Exponentials far below the greatest are 0, and no other numbers.
TEST(Normalization, SoftmaxFarBelowTheGreatestIsZero) {
    const std::vector<float> x = {0, -86, -87, -87.6F, -87.7F, -88, -88.03F, -89, -150, -1e30F};
    std::vector<float> y(x.size());
    cpu::simd::softmax_row(y.data(), x.data(), std::ssize(x));
    EXPECT_EQ(y[0], 1);
    for (std::size_t i = 1; i < x.size(); ++i) {
        const double expected = std::exp(static_cast<double>(x[i]));
        const bool near = std::abs(static_cast<double>(y[i]) - expected) <= 1e-5 * expected;
        EXPECT_TRUE((near && x[i] > -88) || (y[i] == 0 && x[i] < -87.6F)) << x[i] << " " << y[i];
    }
}

TEST(Normalization, SoftmaxOfARowWithoutAGreatestNumberIsNaN) {
    for (const std::int64_t n : {1, 5, 8, 37, 64, 100})
        for (const float odd : {NAN, INFINITY, -INFINITY})
            for (std::int64_t at = 0; at < n; ++at) {
                std::vector<float> x(static_cast<std::size_t>(n), odd < 0 ? odd : 0.5F);
                x[static_cast<std::size_t>(at)] = odd;
                std::vector<float> y(x.size()), z(x.size());
                cpu::simd::softmax_row(y.data(), x.data(), n);
                cpu::simd::log_softmax_row(z.data(), x.data(), n);
                const auto is_nan = [](float value) { return std::isnan(value); };
                EXPECT_TRUE(std::ranges::all_of(y, is_nan) && std::ranges::all_of(z, is_nan)) << n << odd;
            }
}

}  // namespace
}  // namespace viridian::execute
