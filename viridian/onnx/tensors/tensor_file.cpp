#include "viridian/onnx/tensors/tensor_file.hpp"

#include <google/protobuf/stubs/logging.h>

#include <limits>

#include "viridian/data/npy.hpp"
#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {
namespace {

Error unknown_extension(const Path& path) {
    return fail(ErrorCode::invalid_argument, "use .npy or .pb",
                "`{}` has an extension that is not a tensor's", path.string());
}

}  // namespace

Result<NamedTensor> parse_tensor_proto(std::string_view bytes, std::string_view name) {
    TensorProto proto;
    const google::protobuf::LogSilencer quiet;
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
        !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return fail(ErrorCode::malformed, "check that it is a TensorProto",
                    "`{}` is not a readable tensor file", name);
    ExternalData none;
    auto tensor = to_tensor(proto, none, true);
    if (!tensor.ok()) return std::move(tensor).error().within(fmt::format("`{}`", name));
    return NamedTensor{proto.name(), std::move(tensor).value()};
}

Result<NamedTensor> read_tensor_file(const Path& path) {
    const std::string extension = path.extension().string();
    if (extension != ".npy" && extension != ".pb") return unknown_extension(path);
    VIRIDIAN_TRY(const std::string bytes, read_file(path));
    if (extension == ".pb") return parse_tensor_proto(bytes, path.string());
    VIRIDIAN_TRY(graph::Tensor tensor, data::parse_npy(bytes, path.string()));
    return NamedTensor{"", std::move(tensor)};
}

Result<void> write_tensor_file(const Path& path, const NamedTensor& tensor) {
    const std::string extension = path.extension().string();
    if (extension == ".npy") {
        VIRIDIAN_TRY(const std::string bytes, data::npy_bytes(tensor.tensor));
        return write_file(path, bytes);
    }
    if (extension != ".pb") return unknown_extension(path);
    TensorProto proto;
    proto.set_name(tensor.name);
    to_proto(tensor.tensor, proto);
    return write_file(path, proto.SerializeAsString());
}

}  // namespace viridian::onnx
