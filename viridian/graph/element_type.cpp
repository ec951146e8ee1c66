#include "viridian/graph/element_type.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace viridian::graph {
namespace {

struct Row {
    ElementType type;
    std::string_view name;
    std::int64_t size;
    std::int64_t onnx;  // TensorProto.DataType
};

constexpr std::array<Row, 14> element_type_rows = {{
    {ElementType::undefined, "undefined", 0, 0},
    {ElementType::f64, "f64", 8, 11},
    {ElementType::f32, "f32", 4, 1},
    {ElementType::f16, "f16", 2, 10},
    {ElementType::bf16, "bf16", 2, 16},
    {ElementType::i64, "i64", 8, 7},
    {ElementType::i32, "i32", 4, 6},
    {ElementType::i16, "i16", 2, 5},
    {ElementType::i8, "i8", 1, 3},
    {ElementType::u64, "u64", 8, 13},
    {ElementType::u32, "u32", 4, 12},
    {ElementType::u16, "u16", 2, 4},
    {ElementType::u8, "u8", 1, 2},
    {ElementType::boolean, "bool", 1, 9},
}};

}  // namespace

std::int64_t size_of(ElementType type) { return element_type_rows[static_cast<std::size_t>(type)].size; }
std::string_view name_of(ElementType type) { return element_type_rows[static_cast<std::size_t>(type)].name; }

std::optional<ElementType> element_type(std::string_view name) {
    for (const Row& row : element_type_rows)
        if (row.name == name) return row.type;
    return std::nullopt;
}

std::optional<ElementType> element_type_of_onnx(std::int64_t code) {
    for (const Row& row : element_type_rows)
        if (row.onnx == code && code != 0) return row.type;
    return std::nullopt;
}

std::int64_t onnx_code_of(ElementType type) { return element_type_rows[static_cast<std::size_t>(type)].onnx; }

bool is_floating(ElementType type) {
    return type == ElementType::f64 || type == ElementType::f32 || type == ElementType::f16 ||
           type == ElementType::bf16;
}

bool is_signed(ElementType type) {
    return type == ElementType::i64 || type == ElementType::i32 || type == ElementType::i16 ||
           type == ElementType::i8;
}

float from_half(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t mantissa = bits & 0x3ffU;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13U));
    const float magnitude = exponent == 0
                                ? std::ldexp(static_cast<float>(mantissa), -24)
                                : std::bit_cast<float>(((exponent + 112U) << 23U) | (mantissa << 13U));
    return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t to_half(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000U) {
        half = 0x7e00U;  // NaN
    } else if (magnitude >= 0x477ff000U) {
        half = 0x7c00U;                    // rounds to infinity
    } else if (magnitude < 0x38800000U) {  // subnormal in half: units of 2^-24
        half = static_cast<std::uint32_t>(std::lrint(std::ldexp(std::bit_cast<float>(magnitude), 24)));
    } else {
        const std::uint32_t odd = (magnitude >> 13U) & 1U;
        half = (magnitude - 0x38000000U + 0xfffU + odd) >> 13U;
    }
    return static_cast<std::uint16_t>(sign | half);
}

float from_bfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_bfloat16(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    if (std::isnan(number)) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace viridian::graph
