// Steps whose weights are stacked compute what steps with separate weights compute.
#include "viridian/gradient/parameters/stack.hpp"

#include <gmock/gmock.h>

#include "tests/gradient/run_step.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/gradient/training_metadata.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::gradient {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// How a projection is written in a network.
enum class Form : std::uint8_t { matmul, matmul_of_transpose, gemm, gemm_of_transpose };

class Projected {
  public:
    explicit Projected(Form form, bool biased = true) : form_(form), biased_(biased) {}

    ValueId input(const char* name, std::int64_t rows = 4) {
        return graph.add_input(name, {ElementType::f64, graph::shape_of({rows, 6})});
    }

    // x·W + b to `width` features; its parameters are called NAME.weight and NAME.bias.
    ValueId projection(ValueId x, const std::string& name, std::int64_t width) {
        const bool gemm = form_ == Form::gemm || form_ == Form::gemm_of_transpose;
        const bool rows = form_ == Form::matmul_of_transpose || form_ == Form::gemm_of_transpose;
        ValueId weights = graph.add_constant(name + ".weight",
                                             random_doubles(rows ? Dims{width, 6} : Dims{6, width}, random_));
        const ValueId bias =
            biased_ ? graph.add_constant(name + ".bias", random_doubles({width}, random_)) : ValueId::none;
        if (gemm) {
            std::vector<ValueId> inputs = {x, weights};
            if (biased_) inputs.push_back(bias);
            return graph.add(op::Gemm, inputs, {{"transB", std::int64_t{rows}}}, name);
        }
        if (rows) weights = graph.add(op::Transpose, {weights});
        const ValueId product = graph.add(op::MatMul, {x, weights}, {}, name);
        return biased_ ? graph.add(op::Add, {product, bias}) : product;
    }

    Graph finish(ValueId output) {
        graph.set_outputs({output});
        EXPECT_TRUE(infer_types(graph).ok());
        return graph;
    }

    Graph graph;

  private:
    Form form_;
    bool biased_;
    Random random_{11};
};

// tanh(q)·k, beside v: three projections of one input, of different widths.
Graph three_projections(Form form, bool biased = true) {
    Projected network(form, biased);
    const ValueId x = network.input("x");
    const ValueId q = network.projection(x, "q", 5), k = network.projection(x, "k", 5),
                  v = network.projection(x, "v", 3);
    const ValueId product = network.graph.add(op::Mul, {network.graph.add(op::Tanh, {q}), k});
    return network.finish(network.graph.add(op::Concat, {product, v}, {{"axis", std::int64_t{1}}}, "y"));
}

// The states of a step under the names of the network.
NamedTensors by_parts(const Step& step, NamedTensors states) {
    for (const StackedState& stacked : step.stacked) {
        const std::vector<Tensor> parts = parted(stacked, states.at(stacked.name));
        for (std::size_t i = 0; i < parts.size(); ++i) states[stacked.parts[i].name] = parts[i];
        states.erase(stacked.name);
    }
    return states;
}

StepOptions usual() {
    StepOptions options;
    options.loss.kind = LossKind::mean_squared_error;
    options.optimizer.decay = 0.01;
    options.clip_norm = 0.05;  // below the norms that occur
    options.gradient_outputs = true;
    return options;
}

void compare(const Graph& forward, const StepOptions& options, Stacking stacking, std::size_t stacks) {
    StepOptions stacked = options;
    stacked.stacking = stacking;
    const auto separate = training_step(forward, options);
    const auto step = training_step(forward, stacked);
    ASSERT_TRUE(separate.ok()) << separate.error().text();
    ASSERT_TRUE(step.ok()) << step.error().text();
    ASSERT_TRUE(verify(step->graph).ok()) << verify(step->graph).error().text();
    EXPECT_EQ(step->stacked.size(), stacks);
    ASSERT_EQ(step->parameters.size(), separate->parameters.size());
    for (const Trained& one : separate->parameters) {
        const auto same = std::ranges::find(step->parameters, one.name, &Trained::name);
        ASSERT_NE(same, step->parameters.end()) << one.name;
        EXPECT_EQ(same->moments, one.moments);
        EXPECT_EQ(same->decay, one.decay);
        EXPECT_EQ(same->decay_reason, one.decay_reason);
    }
    Random random(5);
    NamedTensors ours, theirs;
    for (int i = 0; i < 3; ++i) {
        NamedTensors inputs;
        for (const ValueId id : separate->graph.inputs())
            inputs[separate->graph.value(id).name] =
                random_doubles(separate->graph.value(id).type.dims(), random);
        inputs["viridian.rate"] = Tensor::of<double>(ElementType::f64, {}, std::vector{0.01});
        const NamedTensors expected = run_step(separate->graph, inputs, theirs);
        const NamedTensors made = run_step(step->graph, inputs, ours);
        ASSERT_EQ(made.size(), expected.size());
        for (const auto& [name, tensor] : expected) EXPECT_LE(furthest(made.at(name), tensor), 1e-13) << name;
        const NamedTensors states = by_parts(*step, ours);
        ASSERT_EQ(states.size(), theirs.size());
        for (const auto& [name, tensor] : theirs) EXPECT_LE(furthest(states.at(name), tensor), 1e-13) << name;
    }
}

TEST(Stack, StepsComputeTheSame) {
    for (const Form form : {Form::matmul, Form::matmul_of_transpose, Form::gemm, Form::gemm_of_transpose}) {
        // Weights and biases of all with two moments each; of two of the three.
        compare(three_projections(form), usual(), Stacking::all, 6);
        compare(three_projections(form), usual(), Stacking::pairs, 6);
        compare(three_projections(form, false), usual(), Stacking::all, 3);
    }
}

TEST(Stack, EveryOptimizerOfElementsUpdatesStacks) {
    for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::rmsprop}) {
        StepOptions options = usual();
        options.optimizer.kind = kind;
        compare(three_projections(Form::gemm), options, Stacking::all,
                2 * (1 + moments_of(options.optimizer).size()));
    }
}

TEST(Stack, OneProductReplacesThree) {
    const auto products = [](Stacking stacking) {
        StepOptions options = usual();
        options.stacking = stacking;
        options.input_gradients = true;
        const auto step = training_step(three_projections(Form::matmul), options);
        EXPECT_TRUE(step.ok()) << step.error().text();
        std::map<graph::Phase, int> count;
        for (const NodeId id : step->graph.nodes())
            if (step->graph.node(id).op == op::MatMul || step->graph.node(id).op == op::Gemm)
                ++count[step->graph.node(id).phase];
        return std::pair{count[graph::Phase::forward], count[graph::Phase::weight]};
    };
    // The gradients of the input and of the weights are one product less for each that was stacked.
    EXPECT_EQ(products(Stacking::separate), (std::pair{3, 6}));
    EXPECT_EQ(products(Stacking::pairs), (std::pair{2, 4}));
    EXPECT_EQ(products(Stacking::all), (std::pair{1, 2}));
}

TEST(Stack, KeysAndValuesOfAnotherInputAreStackedWithoutQueries) {
    Projected network(Form::matmul);
    const ValueId x = network.input("x"), memory = network.input("memory");
    const ValueId q = network.projection(x, "q", 5), k = network.projection(memory, "k", 5),
                  v = network.projection(memory, "v", 5);
    const ValueId product = network.graph.add(op::Mul, {q, network.graph.add(op::Tanh, {k})});
    const Graph forward = network.finish(network.graph.add(op::Add, {product, v}, {}, "y"));
    compare(forward, usual(), Stacking::all, 6);
    StepOptions options = usual();
    options.stacking = Stacking::all;
    const auto step = training_step(forward, options);
    ASSERT_TRUE(step.ok());
    EXPECT_EQ(step->stacked[0].name, "k.weight+v.weight");
    EXPECT_EQ(step->stacked[1].name, "k.bias+v.bias");
    EXPECT_THAT(training_metadata(forward, options, *step),
                HasSubstr("{\"state\":\"k.weight+v.weight\",\"axis\":1,\"parts\":[{\"name\":\"k.weight\","
                          "\"extent\":5},{\"name\":\"v.weight\",\"extent\":5}]}"));
}

TEST(Stack, FrozenSharedAndDifferentlyDecayingParametersStayApart) {
    StepOptions options = usual();
    options.parameters = {{"k.*", false}};
    compare(three_projections(Form::matmul), options, Stacking::all, 6);  // q and v
    options.parameters = {{"k.*", false}, {"v.*", false}};
    compare(three_projections(Form::matmul), options, Stacking::all, 0);
    options = usual();
    options.decays = {{"k.weight", 0.5}, {"v.weight", 0.25}};
    compare(three_projections(Form::matmul), options, Stacking::all, 0);

    // One matrix for two products.
    Projected network(Form::matmul, false);
    const ValueId x = network.input("x");
    const ValueId y = network.projection(x, "w", 6);
    const ValueId w = network.graph.producer(y)->inputs[1];
    const ValueId z = network.graph.add(op::MatMul, {network.graph.add(op::Tanh, {y}), w});
    const ValueId v = network.projection(x, "v", 6);
    compare(network.finish(network.graph.add(op::Add, {z, v}, {}, "y")), usual(), Stacking::all, 0);
}

// Only one of two heads trains; a stack would draw the other towards zero.
TEST(Stack, WeightsThatTheLossDoesNotReachStayApart) {
    Projected network(Form::gemm);
    const ValueId x = network.input("x");
    const ValueId one = network.projection(x, "one", 4), other = network.projection(x, "other", 4);
    network.graph.set_outputs(
        {network.graph.add(op::Tanh, {one}, {}, "y"), network.graph.add(op::Tanh, {other}, {}, "z")});
    ASSERT_TRUE(infer_types(network.graph).ok());
    StepOptions options = usual();
    options.loss.output = "y";
    compare(network.graph, options, Stacking::all, 0);
}

TEST(Stack, MicroBatchesAccumulateStacks) {
    StepOptions options = usual();
    options.stacking = Stacking::all;
    const auto split = accumulated_step(three_projections(Form::matmul), options);
    ASSERT_TRUE(split.ok()) << split.error().text();
    EXPECT_TRUE(verify(split->accumulate.graph).ok());
    EXPECT_TRUE(verify(split->apply).ok());
    EXPECT_EQ(split->accumulate.stacked.size(), 6U);
    EXPECT_EQ(split->accumulate.parameters.size(), 6U);
    StepOptions separate = usual();
    const auto whole = training_step(three_projections(Form::matmul), separate);
    ASSERT_TRUE(whole.ok());
    Random random(6);
    NamedTensors inputs = {
        {"x", random_doubles({4, 6}, random)},
        {"labels", random_doubles({4, 8}, random)},
        {"viridian.rate", Tensor::of<double>(ElementType::f64, {}, std::vector{0.01})},
        {"viridian.inverse_count", Tensor::of<double>(ElementType::f64, {}, std::vector{1.0 / 32})}};
    NamedTensors ours, theirs;
    run_step(whole->graph, inputs, theirs);
    run_step(split->accumulate.graph, inputs, ours);
    run_step(split->apply, inputs, ours);
    const NamedTensors states = by_parts(split->accumulate, ours);
    for (const auto& [name, tensor] : theirs) EXPECT_LE(furthest(states.at(name), tensor), 1e-13) << name;
}

TEST(Stack, LambIsRefused) {
    StepOptions options = usual();
    options.optimizer.kind = OptimizerKind::lamb;
    options.stacking = Stacking::all;
    const auto step = training_step(three_projections(Form::matmul), options);
    ASSERT_FALSE(step.ok());
    EXPECT_THAT(step.error().text(), HasSubstr("lamb scales the update of each parameter by norms"));
    options.stacking = Stacking::separate;
    EXPECT_TRUE(training_step(three_projections(Form::matmul), options).ok());
}

TEST(StackedState, PartsAreWhatWasJoined) {
    Random random(7);
    const StackedState state{"a+b+c", 1, {{"a", 3}, {"b", 0}, {"c", 4}}};
    const std::vector<Tensor> parts = {random_doubles({2, 3, 5}, random), random_doubles({2, 0, 5}, random),
                                       random_doubles({2, 4, 5}, random)};
    EXPECT_EQ(stacked_name(state.parts), state.name);
    const Tensor whole = joined(parts, 1);
    EXPECT_THAT(whole.dims(), ElementsAre(2, 7, 5));
    EXPECT_EQ(whole.number(35 + 15), parts[2].number(20));
    const std::vector<Tensor> again = parted(state, whole);
    ASSERT_EQ(again.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(again[i].same_bytes(parts[i]));
}

TEST(Stacking, NamesAreRead) {
    for (const Stacking stacking : {Stacking::separate, Stacking::pairs, Stacking::all})
        EXPECT_EQ(parse_stacking(name_of(stacking)), stacking);
    EXPECT_FALSE(parse_stacking("three"));
}

}  // namespace
}  // namespace viridian::gradient
