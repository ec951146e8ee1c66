#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

constexpr std::array types = {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16,
                              ElementType::i64, ElementType::i32, ElementType::i16, ElementType::i8,
                              ElementType::u64, ElementType::u32, ElementType::u16, ElementType::u8};

bool whole(ElementType type) { return !graph::is_floating(type); }

// Numbers with zeroes, negatives, edges of the type, and infinities and NaN where it has them.
Tensor any_tensor(Random& random, ElementType type, const Dims& dims) {
    Tensor tensor(type, dims);
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        std::byte* at = tensor.mutable_bytes() + i * graph::size_of(type);
        if (type == ElementType::boolean) {
            *at = std::byte{random.chance(0.5)};
        } else if (whole(type)) {
            const auto bits = random.chance(0.6) ? random.between(graph::is_signed(type) ? -9 : 0, 9)
                                                 : static_cast<std::int64_t>(random.next() >> 1U);
            std::memcpy(at, &bits, static_cast<std::size_t>(graph::size_of(type)));
        } else {
            const double number = random.chance(0.05)   ? INFINITY
                                  : random.chance(0.05) ? NAN
                                  : random.chance(0.1)  ? 0
                                                        : random.uniform(-8, 8);
            const auto narrow = static_cast<float>(number);
            const std::uint16_t half =
                type == ElementType::f16 ? graph::to_half(narrow) : graph::to_bfloat16(narrow);
            if (type == ElementType::f64) std::memcpy(at, &number, 8);
            if (type == ElementType::f32) std::memcpy(at, &narrow, 4);
            if (graph::size_of(type) == 2) std::memcpy(at, &half, 2);
        }
    }
    return tensor;
}

Dims some_dims(Random& random) {
    Dims dims = {random.between(1, 4), random.between(1, 5), random.between(1, 7)};
    if (random.chance(0.2)) dims.back() = random.between(600, 1400);
    return dims;
}

Dims broadcastable_to(const Dims& dims, Random& random) {
    Dims own = dims;
    for (auto& d : own)
        if (random.chance(0.35)) d = 1;
    if (random.chance(0.3)) own.erase(own.begin());
    return own;
}

struct Built {
    Graph graph;
    std::vector<Tensor> inputs;
    ValueId add(Random& random, ElementType type, const Dims& dims) {
        inputs.push_back(any_tensor(random, type, dims));
        return graph.add_input("x", inputs.back().tensor_type());
    }
};

// By the typed kernel and by the reference: floating results within `tolerance`, others equal.
void expect_equal(Device& device, Built& built, const std::string& what, double tolerance) {
    ASSERT_TRUE(infer_types(built.graph).ok()) << what;
    const auto pick = [](const plan::Region&, const std::vector<plan::Choice>& choices) {
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (choices[i].kernel == "simd:typed") return i;
        return choices.size() - 1;
    };
    const auto run = run_greedily(device, built.graph, built.inputs, pick);
    ASSERT_TRUE(run.ok()) << what << run.error().text();
    EXPECT_EQ(run->kernels[0].second, "simd:typed") << what;
    const auto expected = evaluate(built.graph, built.inputs);
    ASSERT_TRUE(expected.ok()) << what << expected.error().text();
    const Tensor& have = run->outputs[0];
    const Tensor& want = expected->front();
    ASSERT_EQ(have.type(), want.type());
    if (whole(want.type())) {
        EXPECT_TRUE(have.same_bytes(want)) << what;
        return;
    }
    for (std::int64_t i = 0; i < want.count(); ++i) {
        const double x = have.number(i), y = want.number(i);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        ASSERT_LE(std::abs(x - y), tolerance * std::max(1.0, std::abs(y))) << what << " at " << i;
    }
}

double tolerance_of(ElementType type) {
    return type == ElementType::bf16 ? 8e-3 : type == ElementType::f16 ? 1e-3 : 1e-6;
}

TEST(Typed, EveryOperationOnEveryType) {
    Random random(1);
    const auto device = test_device(2);
    for (const std::string op :
         {"Add", "Sub",  "Mul",   "Div",        "Mod",       "Pow",         "Min",        "Max",
          "Sum", "Mean", "PRelu", "Equal",      "Less",      "LessOrEqual", "Greater",    "GreaterOrEqual",
          "And", "Or",   "Xor",   "BitwiseAnd", "BitwiseOr", "BitwiseXor",  "BitShift",   "Where",
          "Neg", "Abs",  "Sign",  "Not",        "IsNaN",     "IsInf",       "BitwiseNot", "Clip"})
        for (const ElementType type : types) {
            const bool logic = op == "And" || op == "Or" || op == "Xor" || op == "Not";
            const bool bits = op.starts_with("Bit");
            if ((bits && !whole(type)) || (logic && type != ElementType::u8)) continue;
            if (op == "BitShift" && graph::is_signed(type)) continue;
            if ((op == "IsInf" || op == "IsNaN" || op == "Mean") && whole(type)) continue;
            if (op == "Mean" && type == ElementType::f64) continue;
            if (op == "Mod" && !whole(type)) continue;
            Built built;
            const Dims dims = some_dims(random);
            const ElementType own = logic ? ElementType::boolean : type;
            std::vector<ValueId> inputs;
            if (op == "Where")
                inputs.push_back(built.add(random, ElementType::boolean, broadcastable_to(dims, random)));
            inputs.push_back(built.add(
                random, own, op == "Clip" || op == "PRelu" ? dims : broadcastable_to(dims, random)));
            const bool unary = op == "Neg" || op == "Abs" || op == "Sign" || op == "Not" || op == "IsNaN" ||
                               op == "IsInf" || op == "BitwiseNot";
            if (op == "Clip")
                for (int i = 0; i < 2; ++i) inputs.push_back(built.add(random, own, {}));
            else if (!unary)
                inputs.push_back(built.add(random, own, broadcastable_to(dims, random)));
            if (op == "Sum" || op == "Mean" || op == "Max")
                inputs.push_back(built.add(random, own, broadcastable_to(dims, random)));
            graph::Attributes attributes;
            if (op == "BitShift")
                attributes["direction"] = std::string(random.chance(0.5) ? "LEFT" : "RIGHT");
            built.graph.set_outputs({built.graph.add(op, inputs, attributes)});
            expect_equal(*device, built, op + " " + std::string(graph::name_of(own)), tolerance_of(own));
        }
}

// ONNX has scalars there; networks also have tensors of one element, which may have more dims than x.
TEST(Typed, ClipsByBoundsOfHigherRank) {
    Random random(2);
    const auto device = test_device(2);
    for (const Dims& dims : {Dims{}, Dims{3}, Dims{2, 3}})
        for (const Dims& bound : {Dims{1}, Dims{1, 1, 1}}) {
            Built built;
            const ElementType element = ElementType::f32;
            std::vector<ValueId> inputs{built.add(random, element, dims)};
            for (int i = 0; i < 2; ++i) inputs.push_back(built.add(random, element, bound));
            built.graph.set_outputs({built.graph.add("Clip", inputs)});
            expect_equal(*device, built, "Clip", tolerance_of(element));
        }
}

TEST(Typed, CastsBetweenAllTypes) {
    Random random(2);
    const auto device = test_device();
    for (const ElementType from : types)
        for (const ElementType to : types) {
            Built built;
            const ValueId x = built.add(random, from, some_dims(random));
            built.graph.set_outputs({built.graph.add("Cast", {x}, {{"to", graph::onnx_code_of(to)}})});
            expect_equal(*device, built,
                         std::string(graph::name_of(from)) + " to " + std::string(name_of(to)),
                         tolerance_of(to));
        }
}

}  // namespace
}  // namespace viridian::execute
