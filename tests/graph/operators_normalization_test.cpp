// Values by PyTorch 1.13 in double.
#include "operator_support.hpp"
#include "viridian/graph/data_flow.hpp"

namespace viridian::graph {
namespace {

// (0.3 i − 1)²
Tensor squares(Dims dims) {
    Tensor tensor = counting(std::move(dims), 0.3F, -1);
    for (float& value : tensor.mutable_values<float>()) value *= value;
    return tensor;
}

constexpr std::int64_t one = 1;

TEST(Pooling, MaxPoolWithCeilModeAndIndices) {
    const Attributes attributes = {
        {"kernel_shape", Dims{3}}, {"strides", Dims{2}}, {"pads", Dims{1, 1}}, {"ceil_mode", one}};
    const auto outputs = run_operator("MaxPool", {counting({1, 1, 5}, 0.5F, -1)}, attributes, 2);
    ASSERT_TRUE(outputs.ok());
    expect_floats((*outputs)[0], {1, 1, 3}, {-0.5, 0.5, 1});
    EXPECT_EQ((*outputs)[1].integers(), (Dims{1, 3, 4}));
    const auto column_major = run_operator("MaxPool", {counting({1, 1, 2, 3})},
                                           {{"kernel_shape", Dims{2, 2}}, {"storage_order", one}}, 2);
    EXPECT_EQ((*column_major)[1].integers(), (Dims{3, 5}));
}

TEST(Pooling, MaxPoolOfBytes) {
    const std::vector<std::uint8_t> values = {3, 200, 7, 9};
    const Tensor y = run("MaxPool", {Tensor::of<std::uint8_t>(ElementType::u8, {1, 1, 4}, values)},
                         {{"kernel_shape", Dims{2}}, {"strides", Dims{2}}});
    EXPECT_EQ(y.integers(), (Dims{200, 9}));
}

TEST(Pooling, AveragePoolCountsItsCells) {
    const Tensor x = counting({1, 1, 4});
    const auto pool = [&](std::int64_t include) {
        return run("AveragePool", {x},
                   {{"kernel_shape", Dims{3}},
                    {"strides", Dims{2}},
                    {"pads", Dims{1, 1}},
                    {"ceil_mode", one},
                    {"count_include_pad", include}});
    };
    expect_floats(pool(0), {1, 1, 3}, {0.5, 2, 3});
    expect_floats(pool(1), {1, 1, 3}, {1.0 / 3, 2, 1.5});
    expect_floats(
        run("AveragePool", {x}, {{"kernel_shape", Dims{2}}, {"auto_pad", std::string("SAME_UPPER")}}),
        {1, 1, 4}, {0.5, 1.5, 2.5, 3});
}

TEST(Pooling, WholePlanes) {
    const Tensor x = floats({1, 2, 2}, {3, -4, 1, 2});
    expect_floats(run("GlobalAveragePool", {x}), {1, 2, 1}, {-0.5, 1.5});
    expect_floats(run("GlobalMaxPool", {x}), {1, 2, 1}, {3, 2});
    expect_floats(run("GlobalLpPool", {x}), {1, 2, 1}, {5, std::sqrt(5.0)});
    expect_floats(run("LpPool", {x}, {{"kernel_shape", Dims{2}}, {"p", one}}), {1, 2, 1}, {7, 3});
}

TEST(Normalization, Softmaxes) {
    const Tensor x = floats({4, 2}, {1, 0.49F, 0.16F, 0.01F, 0.04F, 0.25F, 0.64F, 1.21F});
    expect_floats(run("Softmax", {x}, {{"axis", std::int64_t{0}}}), {4, 2},
                  {0.3980448, 0.2242231, 0.1718401, 0.1387455, 0.1524085, 0.1763801, 0.2777065, 0.4606513});
    expect_floats(
        run("LogSoftmax", {x}), {4, 2},
        {-0.4703133, -0.9803133, -0.620957, -0.770957, -0.8036496, -0.5936496, -1.018222, -0.4482215});
    expect_floats(run("Hardmax", {x}), {4, 2}, {1, 0, 1, 0, 0, 1, 0, 1});
    expect_floats(run("Softmax", {floats({2}, {10000, 10001})}), {2}, {0.26894142, 0.73105858});
}

TEST(Normalization, BatchNormalizationInBothModes) {
    const Tensor x = squares({2, 4, 2});
    const std::vector<Tensor> inputs = {x, counting({4}, 0.5F), counting({4}), counting({4}, 0.1F),
                                        counting({4}, 1, 1)};
    expect_floats(run("BatchNormalization", inputs), {2, 4, 2},
                  {0, 0, 1.021213, 0.9681803, 1.907624, 2.028867, 3.255, 3.682499, 0, 0, 2.378855, 2.834938,
                   5.787411, 6.740038, 10.45499, 11.96249});
    const auto trained = run_operator("BatchNormalization", inputs, {{"training_mode", one}}, 3);
    ASSERT_TRUE(trained.ok());
    expect_floats((*trained)[0], {2, 4, 2},
                  {0, 0, 0.5259647, 0.4937174, 0.9843865, 1.040146, 1.433125, 1.59715, 0, 0, 1.351496,
                   1.628822, 2.76868, 3.206788, 4.19566, 4.774066});
    const double mean = (1 + 0.49 + 1.96 + 2.89) / 4;
    EXPECT_NEAR((*trained)[1].number(0), 0.1 * mean, 1e-6);
}

TEST(Normalization, LayerInstanceGroup) {
    const Tensor x = squares({2, 4, 2});
    const auto outputs = run_operator(
        "LayerNormalization", {x, counting({4, 2}, 0.1F), counting({4, 2}, -0.2F)}, {{"axis", one}}, 3);
    ASSERT_TRUE(outputs.ok());
    expect_floats((*outputs)[0], {2, 4, 2},
                  {0, -0.1964126, -0.5506699, -0.9336261, -1.216136, -1.269053, -0.9632331, -0.1695295, 0,
                   -0.3056478, -0.5458735, -0.7047637, -0.7664049, -0.7148837, -0.5342865, -0.2086999});
    expect_floats((*outputs)[1], {2, 1, 1}, {0.475, 6.475});
    expect_floats(run("InstanceNormalization", {x, counting({4}, 0.5F), counting({4})}), {2, 4, 2},
                  {0, 0, 1.499556, 0.5004439, 1.000453, 2.999547, 1.500092, 4.499908, 0, 0, 0.500006,
                   1.499994, 1.000007, 2.999993, 1.500007, 4.499993},
                  1e-4);
    expect_floats(
        run("GroupNormalization", {x, counting({4}, 0.5F), counting({4})}, {{"num_groups", std::int64_t{2}}}),
        {2, 4, 2},
        {0, 0, 0.6642818, 0.4668005, 0.8882298, 1.35989, 3.353745, 5.274075, 0, 0, 1.186855, 1.705227,
         0.7036026, 1.509273, 3.604253, 5.076433});
    expect_floats(run("RMSNormalization", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, {{"epsilon", 0.0}}),
                  {1, 2}, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
}

TEST(Normalization, LocalResponse) {
    const Tensor x = floats({2, 4, 1}, {1, 0.16F, 0.04F, 0.64F, 1.96F, 4, 6.76F, 10.24F});
    const Tensor y =
        run("LRN", {x}, {{"size", std::int64_t{3}}, {"alpha", 0.1}, {"beta", 0.75}, {"bias", 2.0}});
    expect_floats(y, {2, 4, 1},
                  {0.587093, 0.09393303, 0.0236551, 0.3786019, 0.9406436, 1.367151, 1.483908, 2.374742});
    expect_floats(
        run("LRN", {floats({1, 2, 1}, {1, 2})}, {{"size", std::int64_t{2}}, {"alpha", 2.0}, {"beta", 1.0}}),
        {1, 2, 1}, {1.0 / 6, 2.0 / 5});
}

TEST(Normalization, NormsAndMeanVariance) {
    expect_floats(run("LpNormalization", {floats({2, 2}, {3, 4, 0, 0})}), {2, 2}, {0.6, 0.8, 0, 0});
    expect_floats(run("LpNormalization", {floats({2}, {-1, 3})}, {{"p", one}}), {2}, {-0.25, 0.75});
    expect_floats(run("MeanVarianceNormalization", {floats({2, 2}, {1, 5, 3, 9})}, {{"axes", Dims{0}}}),
                  {2, 2}, {-1, -1, 1, 1});
}

TEST(Normalization, Dropout) {
    const Tensor x = counting({1000}, 0, 1);
    expect_floats(run("Dropout", {floats({2}, {1, 2})}), {2}, {1, 2});
    const bool yes = true;
    const Tensor training = Tensor::of<bool>(ElementType::boolean, {}, std::span(&yes, 1));
    const auto outputs =
        run_operator("Dropout", {x, Tensor::scalar(0.25F), training}, {{"seed", std::int64_t{7}}}, 2);
    ASSERT_TRUE(outputs.ok());
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
        kept += (*outputs)[1].integer(i);
        EXPECT_NEAR((*outputs)[0].number(i), (*outputs)[1].integer(i) != 0 ? 4.0 / 3 : 0, 1e-6);
    }
    EXPECT_NEAR(static_cast<double>(kept), 750, 60);
}

TEST(Normalization, RefusesWhatDoesNotFit) {
    const auto refused = [](const char* op, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
        return !run_operator(op, inputs, std::move(attributes)).ok();
    };
    EXPECT_TRUE(refused("MaxPool", {counting({1, 1, 4})}));
    EXPECT_TRUE(refused("MaxPool", {counting({1, 1, 4})}, {{"kernel_shape", Dims{5}}}));
    EXPECT_TRUE(refused("MaxPool", {counting({1, 1, 4})}, {{"kernel_shape", Dims{0}}}));
    EXPECT_TRUE(refused("Softmax", {counting({1, 4})}, {{"axis", std::int64_t{2}}}));
    EXPECT_TRUE(refused("LayerNormalization", {counting({1, 4}), counting({3})}));
    EXPECT_TRUE(refused("GroupNormalization", {counting({1, 4, 2}), counting({4}), counting({4})},
                        {{"num_groups", std::int64_t{3}}}));
    EXPECT_TRUE(refused("LRN", {counting({1, 4, 2})}));
}

TEST(Normalization, LrnOverMoreChannelsThanThereAre) {
    const Tensor x = counting({1, 3, 2});
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    const Tensor y = run("LRN", {x}, {{"size", huge}, {"alpha", 0.0}});
    EXPECT_EQ(y.dims(), x.dims());
    Graph graph;
    const ValueId in = graph.add_input("x", x.tensor_type());
    graph.set_outputs({graph.add("LRN", {in}, {{"size", huge}})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto flow = data_flow(graph);
    ASSERT_TRUE(flow.ok());
    EXPECT_LT(flow->nodes[0].flop, Flop(200));
}

TEST(Normalization, NoChannelsGiveNothing) {
    for (const char* op : {"InstanceNormalization", "GroupNormalization"}) {
        const auto y = run(op, {counting({3, 0, 4}), counting({0}), counting({0})});
        EXPECT_EQ(y.dims(), (Dims{3, 0, 4})) << op;
    }
}

}  // namespace
}  // namespace viridian::graph
