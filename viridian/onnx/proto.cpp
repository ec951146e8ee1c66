#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {
namespace {

using graph::ElementType;

constexpr std::pair<std::int32_t, ElementType> proto_types[] = {
    {TensorProto::DOUBLE, ElementType::f64},   {TensorProto::FLOAT, ElementType::f32},
    {TensorProto::FLOAT16, ElementType::f16},  {TensorProto::BFLOAT16, ElementType::bf16},
    {TensorProto::INT64, ElementType::i64},    {TensorProto::INT32, ElementType::i32},
    {TensorProto::INT16, ElementType::i16},    {TensorProto::INT8, ElementType::i8},
    {TensorProto::UINT64, ElementType::u64},   {TensorProto::UINT32, ElementType::u32},
    {TensorProto::UINT16, ElementType::u16},   {TensorProto::UINT8, ElementType::u8},
    {TensorProto::BOOL, ElementType::boolean},
};

// Element types that are not held; those from 17 on are newer than the message classes (IR versions 9 to 14).
constexpr std::pair<std::int32_t, std::string_view> refused[] = {
    {8, "string"},          {14, "complex64"},  {15, "complex128"},     {17, "float8e4m3fn"},
    {18, "float8e4m3fnuz"}, {19, "float8e5m2"}, {20, "float8e5m2fnuz"}, {21, "uint4"},
    {22, "int4"},           {23, "float4e2m1"}, {24, "float8e8m0"},     {25, "uint2"},
    {26, "int2"},           {27, "float6e2m3"}, {28, "float6e3m2"},
};

}  // namespace

ElementType element_type(std::int32_t onnx_type) {
    for (const auto& [theirs, ours] : proto_types)
        if (theirs == onnx_type) return ours;
    return ElementType::undefined;
}

std::int32_t onnx_type(ElementType type) {
    for (const auto& [theirs, ours] : proto_types)
        if (ours == type) return theirs;
    return TensorProto::UNDEFINED;
}

std::string name_of_onnx_type(std::int32_t type) {
    for (const auto& [number, name] : refused)
        if (number == type) return std::string(name);
    const graph::ElementType known = element_type(type);
    return known == graph::ElementType::undefined ? fmt::format("type {}", type)
                                                  : std::string(graph::name_of(known));
}

}  // namespace viridian::onnx
