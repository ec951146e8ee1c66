// What DropoutMask means in standard operators. Runtimes multiply 64-bit integers as signed numbers, so a
// product of two words of 32 bits is made of two products with halves of the multiplier.
#include <limits>

#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::graph {
namespace {

constexpr std::int64_t word = std::int64_t{1} << 32, half_word = std::int64_t{1} << 16;

class MaskMeaning {
  public:
    explicit MaskMeaning(std::span<const TensorType> inputs) {
        body_.name = "dropout_mask";
        const char* names[] = {"seed", "step", "first_sample", "ratio", "shape"};
        for (std::size_t i = 0; i < std::size(names); ++i)
            inputs_[i] = body_.add_input(names[i], i < inputs.size() ? inputs[i] : TensorType());
        double_ratio_ = inputs.size() > 3 && inputs[3].element == ElementType::f64;
    }

    // The four words of every block of four elements, [rows, 4 · blocks], then the comparison.
    Graph finish(std::int64_t stream) && {
        const auto [seed, step, first_sample, ratio, shape] = inputs_;
        const ValueId one = vector({1});
        const ValueId samples = add("Slice", {concat({shape, one}), vector({0}), one});  // 1 in rank 0
        const ValueId end = vector({std::numeric_limits<std::int64_t>::max()});
        const ValueId elements =
            add("ReduceProd", {concat({one, add("Slice", {shape, one, end})})});  // of a sample
        // At least one of each, because runtimes infer wrong shapes of grids without elements.
        const ValueId rows = add("Max", {samples, one});
        const ValueId blocks = add("Max", {add("Div", {add("Add", {elements, number(3)}), number(4)}), one});
        const ValueId sample =
            low(add("Add", {first_sample, add("Range", {number(0), scalar(rows), number(1)})}));
        const ValueId block = add("Range", {number(0), scalar(blocks), number(1)});
        const ValueId high = low(add("Div", {add("BitwiseAnd", {seed, number(-word)}), number(word)}));
        const ValueId grid = concat({one, rows, blocks});

        // Each pair of words is one tensor, [2, rows, blocks]: words 0 and 2, and words 1 and 3.
        const auto on_grid = [&](ValueId x) { return add("Expand", {x, grid}); };
        even_ = concat({on_grid(block), on_grid(low(step))});
        odd_ = concat({on_grid(add("Unsqueeze", {sample, vector({0, 2})})), on_grid(high)});
        const ValueId key = add("Unsqueeze", {concat({add("Unsqueeze", {low(seed), vector({0})}),
                                                      vector({static_cast<std::uint32_t>(stream)})}),
                                              vector({1, 2})});
        for (int r = 0; r < philox_rounds; ++r) round(key, r);

        const ValueId three = vector({3});
        const ValueId words =
            add("Concat", {add("Unsqueeze", {even_, three}), add("Unsqueeze", {odd_, three})},
                {{"axis", std::int64_t{3}}});
        const ValueId by_sample = add("Transpose", {words}, {{"perm", Dims{1, 2, 0, 3}}});
        const ValueId all = reshape(by_sample, concat({rows, add("Mul", {blocks, number(4)})}));
        const ValueId drawn =
            add("Slice", {all, vector({0, 0}), concat({samples, elements}), vector({0, 1})});
        const ValueId kept = add("GreaterOrEqual", {drawn, least(ratio)});
        body_.set_outputs({reshape(kept, shape)});
        return std::move(body_);
    }

  private:
    ValueId add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}) {
        return body_.add(Operator(op), std::move(inputs), std::move(attributes));
    }
    ValueId constant(Tensor tensor) { return body_.add_constant("c", std::move(tensor)); }
    ValueId number(std::int64_t value) {
        const auto [found, fresh] = numbers_.try_emplace(value, ValueId::none);
        if (fresh) found->second = constant(Tensor::scalar(value));
        return found->second;
    }
    ValueId vector(const Dims& values) {
        const auto [found, fresh] = vectors_.try_emplace(values, ValueId::none);
        if (fresh) found->second = constant(Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
        return found->second;
    }
    // Two numbers, [2, 1, 1].
    ValueId pair(std::int64_t a, std::int64_t b) { return constant(Tensor::i64({2, 1, 1}, Dims{a, b})); }
    ValueId concat(std::vector<ValueId> parts) {
        return add("Concat", std::move(parts), {{"axis", std::int64_t{0}}});
    }
    ValueId reshape(ValueId x, ValueId shape) {
        return add("Reshape", {x, shape}, {{"allowzero", std::int64_t{1}}});
    }
    ValueId scalar(ValueId one_element) { return add("Squeeze", {one_element, vector({0})}); }
    ValueId low(ValueId x) { return add("BitwiseAnd", {x, number(word - 1)}); }
    ValueId swapped(ValueId pair_of_words) {
        return add("Gather", {pair_of_words, vector({1, 0})}, {{"axis", std::int64_t{0}}});
    }

    void round(ValueId key, int r) {
        const auto step = [r](std::size_t i) {
            return static_cast<std::int64_t>(static_cast<std::uint32_t>(r) * philox_key_steps[i]);
        };
        if (r == 0) {
            const auto [a, b] = philox_multipliers;
            low_multiplier_ = pair(a % half_word, b % half_word);
            high_multiplier_ = pair(a / half_word, b / half_word);
        }
        const ValueId a = add("Mul", {even_, low_multiplier_}), b = add("Mul", {even_, high_multiplier_});
        const ValueId high =
            add("Div", {add("Add", {b, add("Div", {a, number(half_word)})}), number(half_word)});
        const ValueId shifted =
            add("Mul", {add("BitwiseAnd", {b, number(half_word - 1)}), number(half_word)});
        const ValueId round_key = r == 0 ? key : low(add("Add", {key, pair(step(0), step(1))}));
        even_ = add("BitwiseXor", {add("BitwiseXor", {swapped(high), odd_}), round_key});
        odd_ = swapped(low(add("Add", {a, shifted})));
    }

    // The least word that is kept, an i64 scalar.
    ValueId least(ValueId ratio) {
        const auto real = [&](double value) {
            return double_ratio_ ? constant(Tensor::of<double>(ElementType::f64, {}, std::span(&value, 1)))
                                 : constant(Tensor::scalar(static_cast<float>(value)));
        };
        const ValueId clipped = add("Clip", {ratio, real(0), real(1)});
        return add("Cast", {add("Ceil", {add("Mul", {clipped, real(0x1p32)})})},
                   {{"to", onnx_code_of(ElementType::i64)}});
    }

    Graph body_;
    std::array<ValueId, 5> inputs_{};
    bool double_ratio_ = false;
    std::map<std::int64_t, ValueId> numbers_;
    std::map<Dims, ValueId> vectors_;
    ValueId even_ = ValueId::none, odd_ = ValueId::none;  // the words of the present round
    ValueId low_multiplier_ = ValueId::none, high_multiplier_ = ValueId::none;
};

}  // namespace

std::shared_ptr<const Graph> meaning_of_dropout_mask(const Node& node, std::span<const TensorType> inputs) {
    return std::make_shared<const Graph>(MaskMeaning(inputs).finish(node.integer("stream", 0)));
}

}  // namespace viridian::graph
