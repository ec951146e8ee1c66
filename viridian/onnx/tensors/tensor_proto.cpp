#include "viridian/onnx/tensors/tensor_proto.hpp"

#include <cstring>

namespace viridian::onnx {
namespace {

using graph::ElementType;
using graph::Tensor;

Result<graph::Dims> dims_of(const TensorProto& proto) {
    graph::Dims dims(proto.dims().begin(), proto.dims().end());
    if (auto count = graph::element_count(dims); !count.ok())
        return std::move(count).error().within(fmt::format("tensor `{}`", proto.name()));
    return dims;
}

Error wrong_length(const TensorProto& proto, std::string_view unit, std::int64_t needed, std::int64_t given) {
    return fail(ErrorCode::malformed, "export the model again", "tensor `{}` needs {} {}, the file holds {}",
                proto.name(), needed, unit, given);
}

template <class Stored, class Field>
Result<Tensor> from_field(const TensorProto& proto, ElementType type, graph::Dims dims, const Field& field) {
    VIRIDIAN_TRY(const std::int64_t count, graph::element_count(dims));
    if (field.size() != count) return wrong_length(proto, "elements", count, field.size());
    Tensor tensor(type, std::move(dims));
    auto out = tensor.mutable_values<Stored>();
    for (int i = 0; i < field.size(); ++i)
        out[static_cast<std::size_t>(i)] = static_cast<Stored>(field.Get(i));
    return tensor;
}

Result<Tensor> from_typed_field(const TensorProto& proto, ElementType type, graph::Dims dims) {
    switch (type) {
        case ElementType::f64:
            return from_field<double>(proto, type, std::move(dims), proto.double_data());
        case ElementType::f32:
            return from_field<float>(proto, type, std::move(dims), proto.float_data());
        case ElementType::i64:
            return from_field<std::int64_t>(proto, type, std::move(dims), proto.int64_data());
        case ElementType::u64:
            return from_field<std::uint64_t>(proto, type, std::move(dims), proto.uint64_data());
        case ElementType::u32:
            return from_field<std::uint32_t>(proto, type, std::move(dims), proto.uint64_data());
        case ElementType::i32:
            return from_field<std::int32_t>(proto, type, std::move(dims), proto.int32_data());
        case ElementType::f16:
        case ElementType::bf16:
        case ElementType::i16:
        case ElementType::u16:
            return from_field<std::uint16_t>(proto, type, std::move(dims), proto.int32_data());
        default:
            return from_field<std::uint8_t>(proto, type, std::move(dims), proto.int32_data());
    }
}

// A boolean is 0 or 1, whatever the byte in the file.
Tensor clean(Tensor tensor) {
    if (tensor.type() != ElementType::boolean) return tensor;
    for (const std::uint8_t byte : tensor.values<std::uint8_t>())
        if (byte > 1) {
            for (std::uint8_t& each : tensor.mutable_values<std::uint8_t>()) each = each != 0 ? 1 : 0;
            break;
        }
    return tensor;
}

Result<Tensor> convert(const TensorProto& proto, ExternalData& external, TensorProto* source) {
    const ElementType type = element_type(proto.data_type());
    if (type == ElementType::undefined)
        return fail(ErrorCode::unsupported, "convert the model to numeric tensors",
                    "tensor `{}` has the element type {}", proto.name(),
                    name_of_onnx_type(proto.data_type()));
    VIRIDIAN_TRY(graph::Dims dims, dims_of(proto));
    VIRIDIAN_TRY(const std::int64_t count, graph::element_count(dims));
    const std::int64_t bytes = count * graph::size_of(type);
    if (proto.data_location() == TensorProto::EXTERNAL) {
        if (const Tensor* tensor = external.tensor_of(proto)) return *tensor;
        VIRIDIAN_TRY(auto owner, external.bytes_of(proto, bytes, graph::size_of(type)));
        return clean(Tensor(type, std::move(dims), std::move(owner)));
    }
    if (!proto.has_raw_data()) {
        VIRIDIAN_TRY(Tensor tensor, from_typed_field(proto, type, std::move(dims)));
        return clean(std::move(tensor));
    }
    const auto given = static_cast<std::int64_t>(proto.raw_data().size());
    if (given != bytes) return wrong_length(proto, "bytes", bytes, given);
    if (source != nullptr && bytes >= 64) {  // short strings are not aligned
        const std::shared_ptr<const std::string> owner(source->release_raw_data());
        return clean(
            Tensor(type, std::move(dims), {owner, reinterpret_cast<const std::byte*>(owner->data())}));
    }
    Tensor tensor(type, std::move(dims));
    if (bytes > 0)
        std::memcpy(tensor.mutable_bytes(), proto.raw_data().data(), static_cast<std::size_t>(bytes));
    return clean(std::move(tensor));
}

}  // namespace

Result<Tensor> to_tensor(TensorProto& proto, ExternalData& external, bool take) {
    return convert(proto, external, take ? &proto : nullptr);
}

Result<Tensor> to_tensor(const TensorProto& proto, ExternalData& external) {
    return convert(proto, external, nullptr);
}

void to_proto(const Tensor& tensor, TensorProto& proto) {
    proto.set_data_type(onnx_type(tensor.type()));
    for (const std::int64_t dimension : tensor.dims()) proto.add_dims(dimension);
    proto.set_raw_data(tensor.bytes(), static_cast<std::size_t>(tensor.byte_count()));
}

}  // namespace viridian::onnx
