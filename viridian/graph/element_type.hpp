#pragma once
// ElementType lists the types that an element of a tensor can have: those of ONNX's TensorProto.DataType that
// have a fixed size. Models with strings or complex numbers are refused at import.
#include <cstdint>
#include <optional>
#include <string_view>

namespace viridian::graph {

enum class ElementType : std::uint8_t {
    undefined,
    f64,
    f32,
    f16,
    bf16,
    i64,
    i32,
    i16,
    i8,
    u64,
    u32,
    u16,
    u8,
    boolean
};

[[nodiscard]] std::int64_t size_of(ElementType type);      // bytes of one element
[[nodiscard]] std::string_view name_of(ElementType type);  // "f32"
// Returns the type of this name, or nothing.
[[nodiscard]] std::optional<ElementType> element_type(std::string_view name);
// These two convert from and to ONNX's TensorProto.DataType, which attributes such as Cast's `to` hold: 1
// is f32, 7 is i64, and so on. The result is nothing for a code that has no type here.
[[nodiscard]] std::optional<ElementType> element_type_of_onnx(std::int64_t code);
[[nodiscard]] std::int64_t onnx_code_of(ElementType type);
[[nodiscard]] bool is_floating(ElementType type);
[[nodiscard]] bool is_signed(ElementType type);

// These convert between float and the bits of IEEE 754 binary16 or bfloat16, rounding to nearest even.
[[nodiscard]] float from_half(std::uint16_t bits);
[[nodiscard]] std::uint16_t to_half(float number);
[[nodiscard]] float from_bfloat16(std::uint16_t bits);
[[nodiscard]] std::uint16_t to_bfloat16(float number);

}  // namespace viridian::graph
