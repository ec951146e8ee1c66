// The public interface, as a program that links the library sees it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "tests/support/temporary_folder.hpp"
#include "viridian/api/dlpack.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/viridian.h"
#include "viridian/viridian.hpp"

namespace viridian {
namespace {

using graph::Dims;
using testing::Eq;
using testing::HasSubstr;

constexpr std::int64_t channels = 16, extent = 12;

class Api : public testing::Test {
  protected:
    // A convolution, its bias and activation, a pool and a product: kernels with and without packed weights.
    void SetUp() override {
        graph::Graph graph;
        const auto weights = [&](Dims dims) {
            graph::Tensor tensor(graph::ElementType::f32, std::move(dims));
            float value = 0.1F;
            for (float& w : tensor.mutable_values<float>())
                w = 0.1F * (value = value > 1 ? value - 1.93F : value + 0.37F);
            return graph.add_constant("w", std::move(tensor));
        };
        const auto x =
            graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, channels, extent, extent})});
        const auto conv = graph.add("Conv", {x, weights({32, channels, 3, 3}), weights({32})},
                                    {{"pads", Dims{1, 1, 1, 1}}}, "conv");
        const auto active = graph.add("Relu", {conv}, {}, "active");
        const auto pool = graph.add("GlobalAveragePool", {active}, {}, "pool");
        const auto flat = graph.add("Flatten", {pool}, {}, "flat");
        graph.set_outputs({graph.add("MatMul", {flat, weights({32, 10})}, {}, "product")});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, at("net.onnx")).ok());
    }
    std::string at(const char* name) const { return (folder_ / name).string(); }

    static std::vector<float> input(int seed) {
        std::vector<float> values(channels * extent * extent);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] =
                static_cast<float>((i * 7 + static_cast<std::size_t>(seed) * 131) % 23) / 23.0F - 0.5F;
        return values;
    }
    static v1::Tensor view(const std::vector<float>& values) {
        return v1::Tensor::view(values.data(), {1, channels, extent, extent});
    }
    static std::vector<float> run(const v1::Model& model, const std::vector<float>& values) {
        const auto outputs = model.run({{view(values)}});
        EXPECT_TRUE(outputs.ok()) << outputs.error().text();
        const auto span = (*outputs)[0].values<float>();
        return {span.begin(), span.end()};
    }
    const tests::TemporaryFolder folder_;
};

TEST_F(Api, OpensAModelAndDescribesIt) {
    const auto model = v1::Model::open(at("net.onnx"));
    ASSERT_TRUE(model.ok()) << model.error().text();
    ASSERT_EQ(model->inputs().size(), 1U);
    EXPECT_EQ(model->inputs()[0].name, "x");
    EXPECT_EQ(model->inputs()[0].shape, (std::vector<std::int64_t>{1, channels, extent, extent}));
    EXPECT_EQ(model->outputs()[0].shape, (std::vector<std::int64_t>{1, 10}));
}

TEST_F(Api, SaysWhatIsWrongAndWhatToDo) {
    const auto missing = v1::Model::open(at("none.onnx"));
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, "file_not_found");
    EXPECT_FALSE(missing.error().next_step.empty());
    const auto model = v1::Model::open(at("net.onnx"));
    ASSERT_TRUE(model.ok());
    const auto wrong = model->run({{v1::Tensor(v1::Element::f32, {1, 2})}});
    ASSERT_FALSE(wrong.ok());
    EXPECT_THAT(wrong.error().message, Eq("the input `x` is f32[1,2], and the model takes f32[1,16,12,12]"));
}

TEST_F(Api, BindsMemoryThatEachRunReadsAndWritesAnew) {
    const auto model = v1::Model::open(at("net.onnx"));
    ASSERT_TRUE(model.ok()) << model.error().text();
    std::vector<float> bound(input(1).size());
    const std::vector<float> other = input(2);
    auto first = v1::Binding::of(*model, {{view(bound)}});
    auto second = v1::Binding::of(*model, {{view(other)}});
    ASSERT_TRUE(first.ok() && second.ok());
    const auto written = [](const v1::Binding& binding) {
        const auto span = binding.outputs()[0].values<float>();
        return std::vector<float>(span.begin(), span.end());
    };
    const void* memory = first->outputs()[0].data();
    EXPECT_EQ(first->outputs()[0].shape(), model->outputs()[0].shape);
    for (const int seed : {1, 3, 4}) {
        std::ranges::copy(input(seed), bound.begin());  // into the memory that is bound
        ASSERT_TRUE(first->run().ok() && second->run().ok());
        EXPECT_EQ(written(*first), run(*model, input(seed))) << seed;
    }
    EXPECT_EQ(written(*second), run(*model, other));
    EXPECT_NE(written(*first), written(*second));
    EXPECT_EQ(first->outputs()[0].data(), memory);
}

TEST_F(Api, ABindingKeepsItsModelAndItsOutputsOutliveIt) {
    const std::vector<float> values = input(5);
    auto binding = [&] {
        const auto model = v1::Model::open(at("net.onnx"));
        return v1::Binding::of(*model, {{view(values)}});
    }();
    ASSERT_TRUE(binding.ok() && binding->run().ok());
    const v1::Tensor output = binding->outputs()[0];
    binding = v1::Binding::of(*v1::Model::open(at("net.onnx")), {{view(values)}});
    const auto expected = run(*v1::Model::open(at("net.onnx")), values);
    EXPECT_THAT(output.values<float>(), testing::ElementsAreArray(expected));
}

TEST_F(Api, ABindingRefusesWhatTheModelDoesNotTake) {
    const auto model = v1::Model::open(at("net.onnx"));
    ASSERT_TRUE(model.ok()) << model.error().text();
    const v1::Tensor good(v1::Element::f32, {1, channels, extent, extent});
    const auto refusal = [&](std::span<const v1::Tensor> inputs) {
        const auto binding = v1::Binding::of(*model, inputs);
        return binding.ok() ? "nothing" : binding.error().code + ": " + binding.error().message;
    };
    EXPECT_EQ(refusal({{good}}), "nothing");
    EXPECT_EQ(refusal({}), "mismatch: the model takes 1 input, and the call gives 0 tensors");
    EXPECT_EQ(refusal({{good, good}}), "mismatch: the model takes 1 input, and the call gives 2 tensors");
    EXPECT_EQ(refusal({{v1::Tensor(v1::Element::f32, {2, channels, extent, extent})}}),
              "mismatch: the input `x` is f32[2,16,12,12], and the model takes f32[1,16,12,12]");
    EXPECT_EQ(refusal({{v1::Tensor(v1::Element::f64, {1, channels, extent, extent})}}),
              "mismatch: the input `x` is f64[1,16,12,12], and the model takes f32[1,16,12,12]");
    EXPECT_THAT(refusal({{v1::Tensor::view(nullptr, {1, channels, extent, extent})}}),
                HasSubstr("has no data"));
}

TEST_F(Api, AModelThatNeedsMoreMemoryThanAllowedIsRefused) {
    const auto refused = v1::Model::open(at("net.onnx"), {.memory = "1KiB"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "limit_exceeded");
    EXPECT_THAT(refused.error().message, HasSubstr("--memory allows 1.0 KiB"));
    EXPECT_TRUE(v1::Model::open(at("net.onnx"), {.memory = "1GiB"}).ok());
    v1::OptimizeOptions options;
    options.memory = "1KiB";
    EXPECT_FALSE(v1::optimize(at("net.onnx"), options).ok());
    vd_options given{};
    given.size = sizeof(given);
    given.memory = "1KiB";
    vd_model* model = nullptr;
    EXPECT_NE(vd_model_open(at("net.onnx").c_str(), &given, &model), 0);
    EXPECT_THAT(vd_error_message(), HasSubstr("--memory allows 1.0 KiB"));
    given.memory = nullptr;
    EXPECT_EQ(vd_model_open(at("net.onnx").c_str(), &given, &model), 0) << vd_error_message();
    vd_model_close(model);
}

// A function that throws what none of ours throws; a name that is no UTF-8; a tensor without data.
TEST_F(Api, NoExceptionLeavesIt) {
    const auto thrown = v1::measure([] { throw 7; }, "model");
    ASSERT_FALSE(thrown.ok());
    EXPECT_EQ(thrown.error().code, "broken_invariant");
    const auto model = v1::Model::open(at("net.onnx"));
    ASSERT_TRUE(model.ok());
    const auto empty = model->run({{v1::Tensor()}});
    ASSERT_FALSE(empty.ok());
    EXPECT_EQ(v1::Tensor().values<float>().size(), 0U);
    constexpr std::int64_t large = std::int64_t{1} << 31;
    EXPECT_THROW(v1::Tensor(v1::Element::f32, {large, large, 4}), std::bad_alloc);
    EXPECT_THROW(v1::Tensor(v1::Element::f32, {-1, -1}), std::bad_alloc);
    const std::string strange = at("net\xff.onnx");
    std::filesystem::copy_file(at("net.onnx"), strange);
    v1::OptimizeOptions options;
    options.budget = "1,1s";
    const auto found = v1::optimize(strange, options);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_THAT(found->json(), HasSubstr("viridian.optimize/1"));
    EXPECT_TRUE(found->save(at("out.onnx")).ok());
}

TEST_F(Api, RunsFromEightThreadsAtOnceWithTheOutputsOfOne) {
    const auto model = v1::Model::open(at("net.onnx"), {.threads = 2});
    ASSERT_TRUE(model.ok()) << model.error().text();
    std::vector<std::vector<float>> expected;
    for (int i = 0; i < 8; ++i) expected.push_back(run(*model, input(i)));
    std::vector<std::thread> threads;
    std::vector<int> wrong(8, 0);
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            for (int repeat = 0; repeat < 50; ++repeat)
                wrong[static_cast<std::size_t>(i)] +=
                    run(*model, input(i)) != expected[static_cast<std::size_t>(i)];
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(wrong, testing::Each(0));
}

TEST_F(Api, OptimisesSavesAndRunsThePlan) {
    std::vector<std::string> heard;
    struct Ear : v1::Listener {
        explicit Ear(std::vector<std::string>& to) : heard(to) {}
        void progress(const std::string& what) override { heard.push_back(what); }
        std::vector<std::string>& heard;
    } ear(heard);
    v1::OptimizeOptions options;
    options.budget = "20,5s";
    const auto original = v1::Model::open(at("net.onnx"));
    ASSERT_TRUE(original.ok());
    options.threads = original->threads() == 1 ? 2 : 1;  // a plan is run with its own
    auto found = v1::optimize(at("net.onnx"), options, &ear);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_GT(found->seconds_after(), 0);
    EXPECT_LE(found->energy_after().low, found->energy_after().joules);
    EXPECT_FALSE(found->energy_after().provenance.empty());
    EXPECT_THAT(found->text(), HasSubstr("equal to the original"));
    EXPECT_FALSE(heard.empty());
    ASSERT_TRUE(found->save(at("net.opt.onnx")).ok());

    const auto planned = v1::Model::open(at("net.opt.plan.json"));
    ASSERT_TRUE(planned.ok()) << planned.error().text();
    EXPECT_EQ(planned->threads(), options.threads);
    const v1::Model direct = (*std::move(found)).model();
    const auto exact = run(*original, input(3));
    for (const auto& got : {run(*planned, input(3)), run(direct, input(3))})
        for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(got[i], exact[i], 1e-3);
}

TEST_F(Api, SpeaksCAndDlpack) {
    vd_model* model = nullptr;
    EXPECT_NE(vd_model_open(at("none.onnx").c_str(), nullptr, &model), 0);
    EXPECT_STRNE(vd_error_message(), "");
    EXPECT_STRNE(vd_error_next_step(), "");
    ASSERT_EQ(vd_model_open(at("net.onnx").c_str(), nullptr, &model), 0) << vd_error_message();
    EXPECT_EQ(vd_model_input_count(model), 1U);
    const vd_port port = vd_model_input(model, 0);
    EXPECT_STREQ(port.name, "x");
    EXPECT_EQ(port.type_code, 2);
    EXPECT_EQ(port.type_bits, 32);
    EXPECT_EQ(port.rank, 4);
    EXPECT_EQ(port.shape[1], channels);
    EXPECT_EQ(vd_model_output(model, 9).name, nullptr);

    std::vector<float> values = input(1);
    const std::int64_t shape[] = {1, channels, extent, extent};
    DLManagedTensorVersioned* in = vd_tensor_borrow(values.data(), 4, shape);
    DLManagedTensorVersioned* out = nullptr;
    ASSERT_EQ(vd_model_run(model, &in, &out), 0) << vd_error_message();
    EXPECT_EQ(out->dl_tensor.ndim, 2);
    EXPECT_EQ(out->dl_tensor.dtype.bits, 32);
    const auto same = v1::Model::open(at("net.onnx"));
    EXPECT_EQ(static_cast<float*>(vd_tensor_data(out))[0], run(*same, values)[0]);

    std::int64_t strides[] = {1, 1, 1, 1};
    in->dl_tensor.strides = strides;
    DLManagedTensorVersioned* none = nullptr;
    EXPECT_NE(vd_model_run(model, &in, &none), 0);
    EXPECT_THAT(vd_error_message(), HasSubstr("strided"));
    in->dl_tensor.strides = nullptr;
    for (const std::int64_t extent : {std::int64_t{-1}, std::int64_t{1} << 41}) {
        in->dl_tensor.shape[1] = extent;
        EXPECT_NE(vd_model_run(model, &in, &none), 0);
        EXPECT_THAT(vd_error_message(), HasSubstr("impossible shape"));
    }
    in->dl_tensor.ndim = -1;
    EXPECT_NE(vd_model_run(model, &in, &none), 0);
    EXPECT_NE(vd_model_run(nullptr, &in, &none), 0);
    EXPECT_NE(vd_optimize(at("net.onnx").c_str(), nullptr, nullptr), 0);
    EXPECT_THAT(vd_error_message(), HasSubstr("null"));
    EXPECT_EQ(vd_tensor_borrow(values.data(), -1, shape), nullptr);
    EXPECT_EQ(none, nullptr);
    vd_options options{};
    options.threads = 1;
    EXPECT_NE(vd_model_open(at("net.onnx").c_str(), &options, &model), 0);
    EXPECT_THAT(vd_error_message(), HasSubstr("size"));
    EXPECT_EQ(vd_model_input_count(nullptr), 0U);
    vd_tensor_release(out);
    vd_tensor_release(in);
    vd_model_close(model);
}

TEST_F(Api, MetersABlockOfWork) {
    vd_window* window = nullptr;
    ASSERT_EQ(vd_measure_begin("model", &window), 0) << vd_error_message();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    vd_energy energy;
    ASSERT_EQ(vd_measure_end(window, &energy), 0) << vd_error_message();
    EXPECT_GE(energy.seconds, 0.3);
    EXPECT_LE(energy.low, energy.joules);
    EXPECT_THAT(energy.provenance, HasSubstr("estimated"));
    EXPECT_NE(vd_measure_begin("no-such-meter", &window), 0);
    ASSERT_EQ(vd_measure_begin(nullptr, &window), 0) << vd_error_message();
    EXPECT_NE(vd_measure_end(window, nullptr), 0);
}

TEST_F(Api, PlansAPipeline) {
    const std::string profile = at("stages.csv");
    std::string rows = "stage,instruction,frequency,time,energy\n";
    for (int stage = 0; stage < 2; ++stage)
        for (const char* what : {"forward", "backward"})
            for (int clock = 1; clock <= 3; ++clock)
                rows += std::to_string(stage) + "," + what + "," + std::to_string(500 * clock) + "," +
                        std::to_string(0.06 / clock) + "," + std::to_string(2.0 + clock) + "\n";
    ASSERT_TRUE(write_file(profile, rows).ok());
    const auto plan = v1::plan_pipeline(profile, {.micro_batches = 4});
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_THAT(*plan, HasSubstr("viridian.pipeline-plan/1"));
    EXPECT_FALSE(v1::plan_pipeline(profile, {.slowdown = NAN}).ok());
    EXPECT_FALSE(v1::plan_pipeline(profile, {.slowdown = -1}).ok());
}

}  // namespace
}  // namespace viridian
