#include "viridian/gradient/scalar.hpp"

namespace viridian::gradient {

using graph::ElementType;

graph::Tensor scalar_of(graph::ElementType element, double value) {
    graph::Tensor wide = graph::Tensor::of<double>(ElementType::f64, {}, std::span(&value, 1));
    if (element == ElementType::f64) return wide;
    graph::Tensor made(element, {});
    const auto narrow = static_cast<float>(value);
    switch (element) {
        case ElementType::f32:
            made.mutable_values<float>()[0] = narrow;
            break;
        case ElementType::f16:
            made.mutable_values<std::uint16_t>()[0] = graph::to_half(narrow);
            break;
        case ElementType::bf16:
            made.mutable_values<std::uint16_t>()[0] = graph::to_bfloat16(narrow);
            break;
        case ElementType::i64:
            made.mutable_values<std::int64_t>()[0] = std::int64_t(value);
            break;
        case ElementType::i32:
            made.mutable_values<std::int32_t>()[0] = std::int32_t(value);
            break;
        case ElementType::boolean:
            made.mutable_values<std::uint8_t>()[0] = value != 0 ? 1 : 0;
            break;
        default:
            invariant(false, "numbers are made for the types that gradients have");
    }
    return made;
}

}  // namespace viridian::gradient
