// The facts in the rows of operators, each held against the operator's reference kernel.
#include "viridian/graph/operators/row.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>

#include "operator_support.hpp"
#include "tests/support/paths.hpp"
#include "viridian/base/random.hpp"

namespace viridian::graph {
namespace {

Tensor bf16_values(const Dims& dims, std::uint64_t seed) {
    Tensor tensor(ElementType::f32, dims);
    Random random(seed);
    for (float& value : tensor.mutable_values<float>())
        value = from_bfloat16(to_bfloat16(static_cast<float>(random.normal())));
    return tensor;
}

Tensor cast_to(const Tensor& tensor, ElementType type) {
    return run("Cast", {tensor}, {{"to", onnx_code_of(type)}});
}

// Runs a pointwise operator on inputs of the first element types that it accepts.
std::optional<Tensor> apply(const OperatorRow& row, std::vector<Tensor> inputs, std::size_t accepted = 0) {
    const Attributes attributes = row.name == "Cast" ? Attributes{{"to", std::int64_t{1}}} : Attributes{};
    constexpr ElementType types[][2] = {{ElementType::f32, ElementType::f32},
                                        {ElementType::boolean, ElementType::f32},
                                        {ElementType::i64, ElementType::i64},
                                        {ElementType::u8, ElementType::u8},
                                        {ElementType::boolean, ElementType::boolean}};
    for (std::size_t choice = accepted; choice < std::size(types); ++choice) {
        std::vector<Tensor> typed;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            typed.push_back(cast_to(inputs[i], types[choice][std::min<std::size_t>(i, 1)]));
        const auto outputs =
            run_operator(std::string(row.name), typed, attributes, 1, std::string(row.domain));
        if (outputs.ok()) return (*outputs)[0];
    }
    return std::nullopt;
}

std::size_t inputs_of(const OperatorRow& row) {
    return static_cast<std::size_t>(row.inputs.most == unbounded ? 3 : row.inputs.least);
}

bool is_bf16(double number) {
    const auto single = static_cast<float>(number);
    return !(single == single) || from_bfloat16(to_bfloat16(single)) == single;
}

TEST(OperatorRow, APointwiseOperatorTakesOneElementOfEachInput) {
    for (const OperatorRow* row : all_operators()) {
        if (row->elements != Elements::pointwise) continue;
        std::vector<Tensor> whole;
        for (std::size_t i = 0; i < inputs_of(*row); ++i) whole.push_back(bf16_values({12}, i + 1));
        const auto y = apply(*row, whole);
        ASSERT_TRUE(y) << row->name;
        for (std::int64_t k = 0; k < 12; ++k) {
            std::vector<Tensor> single;
            for (const Tensor& x : whole) single.push_back(floats({1}, {static_cast<float>(x.number(k))}));
            const auto one = apply(*row, single);
            ASSERT_TRUE(one) << row->name;
            EXPECT_TRUE(
                one->same_bytes(Tensor(y->type(), {1},
                                       std::shared_ptr<const std::byte>(y->bytes() + k * size_of(y->type()),
                                                                        [](const std::byte*) {}))))
                << row->name << " element " << k;
        }
    }
}

// Clear operators turn bf16 numbers into bf16 numbers; the other pointwise operators round.
TEST(OperatorRow, AClearOperatorRoundsNothing) {
    for (const OperatorRow* row : all_operators()) {
        if (row->elements != Elements::pointwise || row->precision.safety != NumericSafety::clear) continue;
        std::vector<Tensor> inputs;
        for (std::size_t i = 0; i < inputs_of(*row); ++i) inputs.push_back(bf16_values({64}, i + 1));
        const auto y = apply(*row, inputs);
        ASSERT_TRUE(y) << row->name;
        for (std::int64_t k = 0; k < y->count(); ++k) EXPECT_TRUE(is_bf16(y->number(k))) << row->name;
    }
}

// What the row of each of these operators once said in one place, and the precision table in another.
TEST(OperatorRow, DropoutAndResizeRound) {
    const Tensor x = bf16_values({1, 1, 4, 4}, 1);
    const auto rounds = [](const Tensor& y) {
        for (std::int64_t k = 0; k < y.count(); ++k)
            if (!is_bf16(y.number(k))) return true;
        return false;
    };
    EXPECT_TRUE(
        rounds(run("Dropout", {x, floats({}, {0.3F}), cast_to(floats({}, {1}), ElementType::boolean)})));
    EXPECT_TRUE(rounds(
        run("Resize", {x, Tensor(), floats({4}, {1, 1, 1.7F, 1.7F})}, {{"mode", std::string("linear")}})));
    for (const char* op : {"Dropout", "Resize"})
        EXPECT_EQ(find_operator("", op)->precision.safety, NumericSafety::infer) << op;
}

// A rounded input moves these results by a whole 1, which is more than 2^-8 of the result.
TEST(OperatorRow, OperatorsThatJumpAreDenied) {
    const auto moved = [](const char* op, float x) {
        const float rounded = from_bfloat16(to_bfloat16(x));
        return std::abs(run(op, {floats({1}, {x})}).number(0) - run(op, {floats({1}, {rounded})}).number(0));
    };
    EXPECT_EQ(moved("Floor", 3.999F), 1);
    EXPECT_EQ(moved("Ceil", 4.001F), 1);
    EXPECT_EQ(moved("Round", 4.501F), 1);
    for (const char* op : {"Floor", "Ceil", "Round"})
        EXPECT_EQ(find_operator("", op)->precision.safety, NumericSafety::deny) << op;
}

// |a - b| <= u·|a| element by element gives | ‖a‖ - ‖b‖ | <= u·‖a‖: a norm does not amplify.
TEST(OperatorRow, ANormOfAWindowDoesNotAmplify) {
    Random random(7);
    for (int round = 0; round < 50; ++round) {
        Tensor x(ElementType::f32, {1, 1, 6});
        Tensor y(ElementType::f32, {1, 1, 6});
        for (std::size_t i = 0; i < 6; ++i) {
            const auto value = static_cast<float>(random.normal());
            x.mutable_values<float>()[i] = value;
            y.mutable_values<float>()[i] = from_bfloat16(to_bfloat16(value));
        }
        const Attributes window = {{"kernel_shape", Dims{3}}};
        const Tensor exact = run("LpPool", {x}, window), low = run("LpPool", {y}, window);
        for (std::int64_t i = 0; i < exact.count(); ++i)
            EXPECT_LE(std::abs(exact.number(i) - low.number(i)), 0x1p-8 * exact.number(i) * 1.001);
    }
    EXPECT_EQ(find_operator("", "LpPool")->precision.safety, NumericSafety::infer);
}

TEST(OperatorRow, EveryClassHasAReason) {
    for (const OperatorRow* row : all_operators()) EXPECT_FALSE(row->precision.reason.empty()) << row->name;
}

TEST(Operator, ConstantsHaveTheNamesOfRows) {
    std::ifstream header(tests::source_folder() / "viridian/graph/operators/names.hpp");
    const std::regex constant(R"re(inline constexpr KnownOperator (\w+)\{"(\w+)"(, "(\w+)")?\};)re");
    int found = 0;
    for (std::string line; std::getline(header, line);) {
        std::smatch match;
        if (!std::regex_match(line, match, constant)) continue;
        ++found;
        EXPECT_EQ(match[1], match[2]);
        EXPECT_NE(find_operator(match[4].str(), match[2].str()), nullptr) << line;
    }
    EXPECT_GT(found, 50);
}

TEST(Operator, IsANameInADomain) {
    EXPECT_TRUE(Operator("Conv") == op::Conv);
    EXPECT_TRUE(Operator("Conv", "ai.onnx") == op::Conv) << "ai.onnx is the same domain as the empty one";
    EXPECT_FALSE(Operator("Conv", "com.example") == op::Conv);
    EXPECT_FALSE(Operator() == op::Conv);
    const Operator foreign("Conv", "com.example"), copy = foreign;
    EXPECT_EQ(copy.name(), "Conv");
    EXPECT_EQ(copy.domain(), "com.example");
    EXPECT_EQ(copy.qualified_name(), "com.example.Conv");
    EXPECT_EQ(copy.row(), nullptr);
    EXPECT_TRUE(copy == Operator(std::string("Conv"), std::string("com.example")));
    EXPECT_EQ(Operator("FusedConv", "com.microsoft").row()->domain, "com.microsoft");
    EXPECT_EQ(fmt::format("{}", foreign), "Conv");
}

template <class Text>
concept ComparesWith = requires(const Operator& op, const Text& text) { op == text; };
static_assert(!ComparesWith<const char*> && !ComparesWith<std::string>, "a misspelt name must not compile");
static_assert(ComparesWith<KnownOperator> && ComparesWith<Operator>);

struct Example {
    Dims dims;
    std::vector<Tensor> others = {};
    Attributes attributes = {};
};

Tensor example_output(const OperatorRow& row, const Example& example, const Tensor& x) {
    std::vector<Tensor> inputs = {x};
    inputs.insert(inputs.end(), example.others.begin(), example.others.end());
    return run(std::string(row.name), inputs, example.attributes);
}

// Reshaped outputs hold the input's elements in their order; permuted ones hold them in another.
TEST(OperatorRow, OperatorsThatRearrangeKeepEveryElement) {
    const std::map<std::string_view, Example> examples = {
        {"Reshape", {{2, 6}, {integers({2}, {3, 4})}}},
        {"Flatten", {{2, 3, 2}}},
        {"Squeeze", {{2, 1, 3}, {integers({1}, {1})}}},
        {"Unsqueeze", {{2, 3}, {integers({1}, {0})}}},
        {"Transpose", {{2, 3}}},
        {"DepthToSpace", {{1, 4, 2, 2}, {}, {{"blocksize", std::int64_t{2}}}}},
        {"SpaceToDepth", {{1, 1, 4, 2}, {}, {{"blocksize", std::int64_t{2}}}}}};
    for (const OperatorRow* row : all_operators()) {
        if (row->elements != Elements::reshaped && row->elements != Elements::permuted) continue;
        ASSERT_TRUE(examples.contains(row->name)) << "give an example of " << row->name;
        const Example& example = examples.at(row->name);
        const Tensor x = counting(example.dims);
        const Tensor y = example_output(*row, example, x);
        std::vector<float> before(x.values<float>().begin(), x.values<float>().end());
        std::vector<float> after(y.values<float>().begin(), y.values<float>().end());
        EXPECT_EQ(before == after, row->elements == Elements::reshaped) << row->name;
        std::ranges::sort(after);
        EXPECT_EQ(before, after) << row->name;
    }
}

TEST(OperatorRow, NonDecreasingOperatorsNeverDecrease) {
    const Tensor x = counting({81}, 0.1F, -4);
    for (const OperatorRow* row : all_operators()) {
        if (!row->non_decreasing) continue;
        const Tensor y = run(std::string(row->name), {x});
        EXPECT_TRUE(std::ranges::is_sorted(y.values<float>())) << row->name;
    }
}

Tensor slices(const Tensor& x, std::int64_t from, std::int64_t to) {
    return run("Slice", {x, integers({1}, {from}), integers({1}, {to}), integers({1}, {0})});
}

// An operator whose row says that it keeps samples apart gives the same for a batch as for its halves.
TEST(OperatorRow, SamplesStayApart) {
    const Tensor weights = bf16_values({2, 2, 3, 3}, 5), two = floats({2}, {0.5F, 2});
    const Attributes window = {{"kernel_shape", Dims{2, 2}}};
    const Attributes axis = {{"axis", std::int64_t{1}}};
    const Attributes block = {{"blocksize", std::int64_t{2}}};
    const Attributes groups = {{"num_groups", std::int64_t{2}}};
    const Dims dims = {4, 2, 4, 4};
    const Example over_axes = {dims, {integers({2}, {-1, 2})}};
    std::map<std::string_view, Example> examples = {{"Conv", {dims, {weights}}},
                                                    {"ConvTranspose", {dims, {weights}}},
                                                    {"BatchNormalization", {dims, {two, two, two, two}}},
                                                    {"InstanceNormalization", {dims, {two, two}}},
                                                    {"GroupNormalization", {dims, {two, two}, groups}},
                                                    {"LayerNormalization", {{4, 3, 2}, {two, two}}},
                                                    {"LRN", {dims, {}, {{"size", std::int64_t{3}}}}},
                                                    {"MaxPool", {dims, {}, window}},
                                                    {"AveragePool", {dims, {}, window}},
                                                    {"GlobalAveragePool", {dims}},
                                                    {"GlobalMaxPool", {dims}},
                                                    {"DepthToSpace", {{4, 4, 2, 2}, {}, block}},
                                                    {"SpaceToDepth", {dims, {}, block}},
                                                    {"Softmax", {dims, {}, axis}},
                                                    {"LogSoftmax", {dims, {}, axis}},
                                                    {"Squeeze", {{4, 1, 3}, {integers({1}, {1})}}},
                                                    {"Unsqueeze", {{4, 3}, {integers({1}, {1})}}}};
    for (const OperatorRow* row : all_operators()) {
        if (row->samples == Samples::mixed) continue;
        const bool reduction = row->name.starts_with("Reduce");
        ASSERT_TRUE(reduction || examples.contains(row->name)) << "give an example of " << row->name;
        const Example& example = reduction ? over_axes : examples.at(row->name);
        const Tensor x = bf16_values(example.dims, 3);
        const Tensor whole = example_output(*row, example, x);
        for (std::int64_t from : {0, 2}) {
            const Tensor half = example_output(*row, example, slices(x, from, from + 2));
            EXPECT_TRUE(half.same_bytes(slices(whole, from, from + 2))) << row->name;
        }
    }
}

}  // namespace
}  // namespace viridian::graph
