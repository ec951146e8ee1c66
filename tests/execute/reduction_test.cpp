#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

TEST(Reduction, EveryOperatorOverAnyAxes) {
    Random random(1);
    const auto device = test_device(2);
    for (const std::string op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                                 "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum"})
        for (int i = 0; i < 12; ++i) {
            Dims dims;
            const auto rank = random.between(1, 5);
            for (std::int64_t d = 0; d < rank; ++d) dims.push_back(random.between(1, 6));
            if (random.chance(0.3)) dims.back() = random.between(300, 9000);
            std::vector<std::int64_t> axes;
            for (std::int64_t d = 0; d < rank; ++d)
                if (random.chance(0.5)) axes.push_back(random.chance(0.5) ? d : d - rank);
            Graph graph;
            ValueId x = graph.add_input("x", f32(dims));
            if (op == "ReduceProd" || op == "ReduceLogSum")  // positive
                x = graph.add("Add",
                              {graph.add("Mul", {x, x}), graph.add_constant("c", Tensor::scalar(0.5F))});
            std::vector<ValueId> inputs = {x};
            if (!axes.empty())
                inputs.push_back(
                    graph.add_constant("axes", Tensor::i64({static_cast<std::int64_t>(axes.size())}, axes)));
            graph.set_outputs({graph.add(op, inputs, {{"keepdims", std::int64_t{random.chance(0.5)}}})});
            ASSERT_TRUE(infer_types(graph).ok());
            const auto given = random_inputs(graph, random);
            const auto run = run_greedily(*device, graph, given);
            ASSERT_TRUE(run.ok()) << run.error().text();
            EXPECT_NE(run->kernels.back().second, "reference") << op;
            EXPECT_LE(distance(run->outputs[0], evaluate(graph, given)->front()), 3e-6) << op;
        }
}

TEST(Reduction, MaxKeepsNaN) {
    const auto device = test_device();
    for (const bool last : {false, true}) {
        Graph graph;
        const ValueId axes =
            graph.add_constant("a", Tensor::i64({1}, std::vector<std::int64_t>{last ? 1 : 0}));
        graph.set_outputs({graph.add("ReduceMax", {graph.add_input("x", f32({3, 40})), axes})});
        ASSERT_TRUE(infer_types(graph).ok());
        Random random(2);
        std::vector<Tensor> inputs = {random_tensor(random, {3, 40})};
        inputs[0].mutable_values<float>()[45] = NAN;
        const auto run = run_greedily(*device, graph, inputs);
        ASSERT_TRUE(run.ok());
        EXPECT_EQ(distance(run->outputs[0], evaluate(graph, inputs)->front()), 0);
    }
}

TEST(GroupNormalization, GroupsAndInstances) {
    Random random(3);
    const auto device = test_device(2);
    for (int i = 0; i < 16; ++i) {
        const std::int64_t groups = random.between(1, 4), each = random.between(1, 5);
        const Dims dims = {random.between(1, 3), groups * each, random.between(1, 9), random.between(1, 90)};
        Graph graph;
        const bool instance = random.chance(0.4);
        const bool constant = random.chance(0.5);
        const auto per_channel = [&](const char* name) {
            return constant ? graph.add_constant(name, random_tensor(random, {dims[1]}))
                            : graph.add_input(name, f32({dims[1]}));
        };
        graph::Attributes attributes;
        if (!instance) attributes["num_groups"] = groups;
        const std::vector<ValueId> inputs = {graph.add_input("x", f32(dims)), per_channel("s"),
                                             per_channel("b")};
        graph.set_outputs(
            {graph.add(instance ? "InstanceNormalization" : "GroupNormalization", inputs, attributes)});
        EXPECT_THAT(check_region(*device, graph, random, 1e-5), testing::Contains("simd:groups"));
    }
}

// The variance is 0 or small beside the mean: the mean must be taken off before anything is scaled.
TEST(GroupNormalization, PlanesOfOneElementAndEqualElements) {
    Random random(5);
    const auto device = test_device(2);
    for (const Dims& dims : {Dims{2, 6, 1, 1}, Dims{2, 6}, Dims{1, 6, 3, 43}})
        for (const float spread : {0.0F, 1.0F})
            for (const std::int64_t groups : {0, 2, 6}) {  // 0: InstanceNormalization
                Graph graph;
                graph::Attributes attributes;
                if (groups > 0) attributes["num_groups"] = groups;
                graph.set_outputs({graph.add(groups == 0 ? "InstanceNormalization" : "GroupNormalization",
                                             {graph.add_input("x", f32(dims)), graph.add_input("s", f32({6})),
                                              graph.add_input("b", f32({6}))},
                                             attributes)});
                ASSERT_TRUE(infer_types(graph).ok());
                std::vector<Tensor> given = random_inputs(graph, random);
                for (float& x : given[0].mutable_values<float>()) x = 1000.3F + spread * x;
                const auto run = run_greedily(*device, graph, given);
                ASSERT_TRUE(run.ok()) << run.error().text();
                EXPECT_EQ(run->kernels.back().second, "simd:groups");
                EXPECT_LE(distance(run->outputs[0], evaluate(graph, given)->front()), 3e-6)
                    << groups << " groups of " << graph::text(given[0].tensor_type()) << ", spread "
                    << spread;
            }
}

// The same along rows. In the third case every element is 1024 + 6 ulp, and the sum in f32 loses one of them.
TEST(LayerNormalization, EqualElementsAndALargeMean) {
    Random random(6);
    const auto device = test_device(2);
    for (const auto& [mean, spread] :
         {std::pair{1000.3F, 0.0F}, {1000.3F, 1.0F}, {1024 * (1 + 0x6p-23F), 0.0F}}) {
        Graph graph;
        graph.set_outputs({graph.add("LayerNormalization",
                                     {graph.add_input("x", f32({5, 768})), graph.add_input("s", f32({768})),
                                      graph.add_input("b", f32({768}))})});
        ASSERT_TRUE(infer_types(graph).ok());
        std::vector<Tensor> given = random_inputs(graph, random);
        for (float& x : given[0].mutable_values<float>()) x = mean + spread * x;
        const auto run = run_greedily(*device, graph, given);
        ASSERT_TRUE(run.ok()) << run.error().text();
        EXPECT_EQ(run->kernels.back().second, "simd:fused");
        EXPECT_LE(distance(run->outputs[0], evaluate(graph, given)->front()), 3e-6) << mean << ", " << spread;
    }
}

TEST(Resize, EveryModeInEveryLayout) {
    Random random(4);
    const auto device = test_device(2);
    for (const std::string mode : {"nearest", "linear", "cubic"})
        for (const std::string how : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
            for (int i = 0; i < 4; ++i) {
                const Dims dims = {random.between(1, 2), random.chance(0.5) ? 16 : 3, random.between(1, 20),
                                   random.between(2, 20)};
                const std::vector<std::int64_t> sizes = {dims[0], dims[1], random.between(1, 40),
                                                         random.between(1, 40)};
                Graph graph;
                const std::vector<ValueId> inputs = {graph.add_input("x", f32(dims)), ValueId::none,
                                                     ValueId::none,
                                                     graph.add_constant("s", Tensor::i64({4}, sizes))};
                graph.set_outputs({graph.add("Resize", inputs,
                                             {{"mode", mode},
                                              {"coordinate_transformation_mode", how},
                                              {"antialias", std::int64_t{i == 3}}})});
                const auto kernels = check_region(*device, graph, random, 2e-6);
                EXPECT_EQ(std::ranges::count(kernels, "simd:resize"), dims[1] == 16 ? 4 : 2) << mode << how;
            }
}

TEST(Deconvolution, StridesPaddingsGroups) {
    Random random(5);
    const auto device = test_device(2);
    std::size_t fast = 0, fast_changing = 0;
    for (int i = 0; i < 60; ++i) {
        const bool changing = i % 2 == 1;  // the weights are an input, as in a training step
        const std::int64_t groups = random.chance(0.3) ? 2 : 1;
        const std::int64_t inputs = groups * (random.chance(0.5) ? 16 : random.between(1, 5));
        const std::int64_t filters = random.chance(0.5) ? 16 : random.between(1, 5);
        const std::int64_t kernel = random.between(1, 4);
        Graph graph;
        const auto parameter = [&](bool input, const char* name, const Dims& dims) {
            return input ? graph.add_input(name, f32(dims))
                         : graph.add_constant(name, random_tensor(random, dims));
        };
        std::vector<ValueId> operands = {
            graph.add_input("x",
                            f32({random.between(1, 2), inputs, random.between(1, 7), random.between(1, 7)})),
            parameter(changing, "w", {inputs, filters, kernel, kernel})};
        if (random.chance(0.6)) operands.push_back(parameter(random.chance(0.5), "b", {groups * filters}));
        const std::int64_t pad = kernel > 2 && random.chance(0.5) ? 1 : 0;
        const std::int64_t stride = random.between(1, 3);
        ValueId y = graph.add(
            "ConvTranspose", operands,
            {{"group", groups}, {"strides", Dims{stride, stride}}, {"pads", Dims{pad, pad, pad, pad}}});
        if (random.chance(0.3))
            y = graph.add("Mul", {y, parameter(false, "scale", {groups * filters, 1, 1})});
        if (random.chance(0.3)) y = graph.add("Relu", {y});
        graph.set_outputs({y});
        const auto kernels = check_region(*device, graph, random, 1e-5);
        const bool is_fast =
            std::ranges::any_of(kernels, [](const auto& k) { return k.starts_with("dnnl:deconv"); });
        (changing ? fast_changing : fast) += is_fast ? 1 : 0;
    }
    EXPECT_GE(fast, 10U);
    EXPECT_GE(fast_changing, 10U);
}

}  // namespace
}  // namespace viridian::execute
