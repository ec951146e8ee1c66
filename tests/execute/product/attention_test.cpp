#include <hwy/targets.h>

#include "tests/execute/every_choice.hpp"
#include "tests/support/guarded_run.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

constexpr std::string_view kernel = "simd:attention";
constexpr double tolerance = 1e-5;

struct Form {
    Dims leading;
    std::int64_t rows = 1, keys = 1, size = 1, columns = 1;
    enum class Scale : std::uint8_t { none, factor, divisor, of_head } scale = Scale::none;
    std::vector<Tensor> constant_masks;
    std::vector<Dims> masks;
    enum class Hides : std::uint8_t { nothing, where_false, where_true } hides = Hides::nothing;
    bool dropped = false;  // probabilities that are not kept are 0, and the others are scaled
};

Dims joined(Dims dims, std::int64_t rows, std::int64_t columns) {
    dims.insert(dims.end(), {rows, columns});
    return dims;
}

Graph attention(const Form& form) {
    Graph graph;
    const auto input = [&](const char* name, std::int64_t rows, std::int64_t columns) {
        return graph.add_input(name, f32(joined(form.leading, rows, columns)));
    };
    const ValueId q = input("q", form.rows, form.size);
    ValueId scores = graph.add("MatMul", {q, input("k", form.size, form.keys)});
    const auto number = [&](float value) { return graph.add_constant("c", Tensor::scalar(value)); };
    if (form.scale == Form::Scale::factor) scores = graph.add("Mul", {number(-0.3F), scores});
    if (form.scale == Form::Scale::divisor) scores = graph.add("Div", {scores, number(2.5F)});
    if (form.scale == Form::Scale::of_head)
        scores = graph.add("Mul", {scores, graph.add_input("t", f32({form.leading.back(), 1, 1}))});
    for (const Dims& mask : form.masks)
        scores = graph.add("Add", {scores, graph.add_input("mask", f32(mask))});
    for (const Tensor& mask : form.constant_masks)
        scores = graph.add("Add", {graph.add_constant("mask", mask), scores});
    if (form.hides != Form::Hides::nothing) {
        const ValueId flags =
            graph.add_input("flags", {graph::ElementType::boolean, graph::shape_of({form.rows, form.keys})});
        const ValueId lowest = number(std::numeric_limits<float>::lowest());
        scores = form.hides == Form::Hides::where_false ? graph.add("Where", {flags, scores, lowest})
                                                        : graph.add("Where", {flags, lowest, scores});
    }
    ValueId weights = graph.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    if (form.dropped) {
        const ValueId kept = graph.add_input(
            "kept",
            {graph::ElementType::boolean, graph::shape_of(joined(form.leading, form.rows, form.keys))});
        weights = graph.add("Where", {kept, graph.add("Mul", {weights, number(1.25F)}), number(0)});
    }
    graph.set_outputs({graph.add("MatMul", {weights, input("v", form.keys, form.columns)})});
    return graph;
}

std::vector<std::string> check(Device& device, const Form& form, Random& random,
                               const std::function<void(Tensor&)>& change_first = {}) {
    return check_region(device, attention(form), random, tolerance, std::nullopt, kernel, change_first);
}

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

// The extents of matrices are multiples of `unit`.
Form random_form(Random& random, std::int64_t unit = 1) {
    Form form;
    const auto rank = random.between(0, 2);
    for (std::int64_t i = 0; i < rank; ++i) form.leading.push_back(random.between(1, 3));
    form.rows = rounded_up(random.between(1, 150), unit),
    form.keys = rounded_up(random.between(1, 150), unit);
    form.size = rounded_up(random.between(1, 70), unit),
    form.columns = rounded_up(random.between(1, 70), unit);
    form.scale = static_cast<Form::Scale>(random.between(0, rank > 0 ? 3 : 2));
    const auto masks = random.between(0, 2);
    for (std::int64_t i = 0; i < masks; ++i) {
        Dims mask = joined(form.leading, form.rows, form.keys);
        for (std::int64_t& extent : mask)
            if (random.chance(0.4)) extent = 1;
        if (random.chance(0.3)) mask.erase(mask.begin());
        form.masks.push_back(std::move(mask));
    }
    form.dropped = random.chance(0.4);
    form.hides = static_cast<Form::Hides>(random.between(0, 2));
    return form;
}

TEST(Attention, OfEveryForm) {
    Random random(1);
    for (const int threads : {1, 2}) {
        const auto device = test_device(threads);
        for (int i = 0; i < 40; ++i) {
            const Form form = random_form(random);
            SCOPED_TRACE(fmt::format("{}: {} rows, {} keys", i, form.rows, form.keys));
            const auto kernels = check(*device, form, random);
            EXPECT_EQ(kernels.size(), form.leading.size() == 2 ? 6U : 2U);
        }
    }
}

// Every choice reads q, k and v in bf16, writes the result in bf16, or both.
TEST(Attention, InBf16) {
    Random random(9);
    constexpr double rounded = 2.5e-3;
    for (const int threads : {1, 2}) {
        const auto device = bf16_device(threads);
        for (int i = 0; i < 30; ++i) {
            Form form = random_form(random, 1 + i % 2);  // products in bf16 need even extents
            if (i % 10 == 9) form = {{1, 3}, 131, 1037 + i % 20 / 10, 64, 64, Form::Scale::divisor, {}, {}};
            if (i == 19) form.masks = {{1038}}, form.dropped = true;
            SCOPED_TRACE(fmt::format("{}: {} rows, {} keys", i, form.rows, form.keys));
            const auto kernels = check_region(*device, attention(form), random, tolerance, rounded, kernel);
            EXPECT_EQ(kernels.size(), form.leading.size() == 2 ? 18U : 6U);
        }
    }
}

// More queries and keys than a block has; heads of common and of odd widths.
TEST(Attention, OfSeveralBlocks) {
    Random random(2);
    const auto device = test_device(2);
    for (const auto& [keys, size, columns] : std::vector<std::array<std::int64_t, 3>>{
             {257, 64, 64}, {1500, 32, 32}, {513, 80, 96}, {1037, 128, 7}, {512, 17, 33}})
        for (const bool masked : {false, true}) {
            SCOPED_TRACE(fmt::format("{} keys, {} to {}", keys, size, columns));
            Form form{{1, 3}, 131, keys, size, columns, Form::Scale::divisor, {}, {}};
            form.dropped = masked;
            if (masked) form.hides = Form::Hides::where_false;
            if (masked) form.masks.push_back({1, 1, 1, keys});
            EXPECT_EQ(check(*device, form, random).size(), 6U);
        }
}

// Queries that all heads share, as a constant, and keys that they share, as an input of fewer dimensions.
TEST(Attention, OfRepeatedOperands) {
    Random random(3);
    const auto device = test_device(2);
    const std::int64_t rows = 40, keys = 90, size = 24, columns = 20;
    Graph graph;
    const ValueId q = graph.add_constant("q", random_tensor(random, {1, rows, size}));
    const ValueId k = graph.add_input("k", f32({size, keys}));
    const ValueId v = graph.add_input("v", f32({2, 1, keys, columns}));
    const ValueId bias = graph.add_constant("b", random_tensor(random, {2, 3, rows, keys}));
    const ValueId scores = graph.add("Add", {graph.add("MatMul", {q, k}), bias});
    graph.set_outputs({graph.add("MatMul", {graph.add("Softmax", {scores}), v})});
    // The product does not have the dimensions of the sum, so the kernel does not do it.
    EXPECT_TRUE(check_region(*device, graph, random, tolerance, std::nullopt, kernel).empty());
    Graph shared;
    const ValueId x = shared.add_input("q", f32({2, 3, rows, size}));
    const ValueId y = shared.add_input("k", f32({size, keys}));
    const ValueId z = shared.add_input("v", f32({2, 1, keys, columns}));
    const ValueId weights = shared.add("Softmax", {shared.add("MatMul", {x, y})});
    shared.set_outputs({shared.add("MatMul", {weights, z})});
    EXPECT_EQ(check_region(*device, shared, random, tolerance, std::nullopt, kernel).size(), 4U);
}

Tensor mask_of(std::int64_t rows, std::int64_t keys,
               const std::function<float(std::int64_t, std::int64_t)>& f) {
    Tensor mask(graph::ElementType::f32, {1, 1, rows, keys});
    auto values = mask.mutable_values<float>();
    for (std::int64_t i = 0; i < rows * keys; ++i)
        values[static_cast<std::size_t>(i)] = f(i / keys, i % keys);
    return mask;
}

// Rows of which nothing is left, rows of which the first blocks are hidden, causal masks.
TEST(Attention, OfHiddenKeys) {
    Random random(4);
    const auto device = test_device(2);
    const std::int64_t rows = 61, keys = 1100;
    for (const float hidden : {-INFINITY, std::numeric_limits<float>::lowest(), -1e4F}) {
        SCOPED_TRACE(hidden);
        Form form{{1, 2}, rows, keys, 16, 16, Form::Scale::factor, {}, {}};
        form.constant_masks = {mask_of(rows, keys, [&](std::int64_t row, std::int64_t key) {
            return row == 7 || key > 18 * row || (row > 40 && key < 1000) ? hidden : 0.0F;
        })};
        EXPECT_EQ(check(*device, form, random).size(), 6U);
    }
}

// The reference has NaN in the same places: a row's NaN and infinities reach no other row.
TEST(Attention, KeepsNanAndInfinitiesInTheirRow) {
    Random random(5);
    const auto device = test_device(2);
    for (const std::int64_t keys : {33, 700})
        for (const float odd : {NAN, INFINITY, -INFINITY})
            for (const std::int64_t row : {0, 30, 58}) {
                Form form{{1, 2}, 60, keys, 20, 18, Form::Scale::factor, {}, {}};
                const auto kernels = check(*device, form, random, [&](Tensor& q) {
                    q.mutable_values<float>()[static_cast<std::size_t>(row * 20 + 3)] = odd;
                });
                EXPECT_EQ(kernels.size(), 6U);
            }
}

TEST(Attention, IsTheSameOnAnyNumberOfThreads) {
    Random random(6);
    Graph graph = attention({{2, 3}, 100, 600, 40, 24, Form::Scale::factor, {}, {{2, 1, 1, 600}}});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto inputs = random_inputs(graph, random);
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    std::vector<Tensor> first;
    for (const int threads : {1, 2, 5}) {
        const auto device = test_device(threads);
        const auto choices = *device->choices(graph, region);
        const auto at = std::ranges::find(choices, kernel, &plan::Choice::kernel);
        ASSERT_NE(at, choices.end());
        const auto c = static_cast<std::size_t>(at - choices.begin());
        auto outputs = run_choice(*device, graph, region, c, inputs);
        if (first.empty())
            first = std::move(outputs);
        else
            EXPECT_EQ(first[0].content_hash(), outputs[0].content_hash()) << threads;
    }
}

TEST(Attention, StaysWithinItsTensors) {
    Random random(7);
    auto context = tests::guarded_context(2);
    context.allowances.bf16 = true;
    context.bf16_products = multiplies_bf16();
    const auto device = bf16_device(2);
    for (int i = 0; i < 12; ++i) {
        Form form = random_form(random, 1 + i % 2);
        if (i % 3 == 0) form.keys += 512, form.masks.clear();
        Graph graph = attention(form);
        ASSERT_TRUE(infer_types(graph).ok());
        const auto inputs = random_inputs(graph, random);
        const auto expected = *evaluate(graph, inputs);
        const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
        const auto choices = *device->choices(graph, region);
        for (std::size_t c = 0; c < choices.size(); ++c) {
            if (choices[c].kernel != kernel) continue;
            auto assignment = assign(*device, graph, {region}, [&](const auto&, const auto&) { return c; });
            const auto plan = plan::make_plan(graph, *std::move(assignment));
            for (const auto guard : {tests::Guard::before, tests::Guard::behind}) {
                const auto outputs = tests::run_guarded(context, graph, *plan, inputs, guard);
                ASSERT_TRUE(outputs.ok()) << outputs.error().text();
                const bool rounds = plan::rounds(graph, region, choices[c]);
                EXPECT_LE(distance((*outputs)[0], expected[0]), rounds ? 0.02 : tolerance);
            }
        }
    }
}

// The code for AVX2 on a processor that has more.
TEST(Attention, WithAvx2) {
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
    hwy::GetChosenTarget().DeInit();
    EXPECT_EQ(cpu::simd::tile_pixels(), 6);
    Random random(8);
    const auto device = test_device(2);
    for (int i = 0; i < 12; ++i) check(*device, random_form(random), random);
    check(*device, {{1, 2}, 70, 1100, 40, 50, Form::Scale::divisor, {}, {{1, 1, 1, 1100}}}, random);
    hwy::DisableTargets(0);
    hwy::GetChosenTarget().DeInit();
}

}  // namespace
}  // namespace viridian::execute
