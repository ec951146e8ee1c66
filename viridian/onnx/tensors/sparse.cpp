#include "viridian/onnx/tensors/sparse.hpp"

#include <algorithm>
#include <cstring>

#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {

Result<graph::Tensor> dense(const ::onnx::SparseTensorProto& sparse, ExternalData& external) {
    const std::string& name = sparse.values().name();
    const auto malformed = [&] {
        return fail(ErrorCode::malformed, "export the model again",
                    "the indices of sparse tensor `{}` do not fit", name);
    };
    const graph::Dims dims(sparse.dims().begin(), sparse.dims().end());
    VIRIDIAN_TRY(const std::int64_t count, graph::element_count(dims));
    VIRIDIAN_TRY(const graph::Tensor values, to_tensor(sparse.values(), external));
    VIRIDIAN_TRY(const graph::Tensor indices, to_tensor(sparse.indices(), external));
    const bool linear = indices.rank() == 1;
    const auto rank = static_cast<std::int64_t>(dims.size());
    if (indices.type() != graph::ElementType::i64 || values.rank() != 1 ||
        indices.count() != values.count() * (linear ? 1 : rank))
        return malformed();
    external.dense_left -= std::min(count, std::int64_t{1} << 30) * graph::size_of(values.type());
    if (external.dense_left < 0)
        return fail(ErrorCode::limit_exceeded, "use dense tensors as external data",
                    "sparse tensor `{}` has {} elements", name, count);
    graph::Tensor out(values.type(), dims);
    std::byte* bytes = out.mutable_bytes();
    const auto size = static_cast<std::size_t>(graph::size_of(values.type()));
    for (std::int64_t i = 0; i < values.count(); ++i) {
        std::int64_t at = linear ? indices.integer(i) : 0;
        for (std::int64_t axis = 0; !linear && axis < rank; ++axis) {
            const std::int64_t coordinate = indices.integer(i * rank + axis);
            if (coordinate < 0 || coordinate >= dims[static_cast<std::size_t>(axis)]) return malformed();
            at = at * dims[static_cast<std::size_t>(axis)] + coordinate;
        }
        if (at < 0 || at >= count) return malformed();
        std::memcpy(bytes + static_cast<std::size_t>(at) * size,
                    values.bytes() + static_cast<std::size_t>(i) * size, size);
    }
    return out;
}

}  // namespace viridian::onnx
