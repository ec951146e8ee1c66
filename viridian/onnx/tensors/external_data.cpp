#include "viridian/onnx/tensors/external_data.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace viridian::onnx {
namespace {

std::string entry(const TensorProto& tensor, std::string_view key) {
    for (const auto& pair : tensor.external_data())
        if (pair.key() == key) return pair.value();
    return {};
}

Result<std::uint64_t> number(const TensorProto& tensor, std::string_view key, std::uint64_t otherwise) {
    const std::string text = entry(tensor, key);
    if (text.empty()) return otherwise;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return fail(ErrorCode::malformed, "export the model again",
                    "the external {} of tensor `{}` is `{}`, not a number", key, tensor.name(), text);
    return value;
}

bool inside(const Path& folder, const Path& file) {
    std::error_code ignored;
    const Path root = std::filesystem::weakly_canonical(folder, ignored);
    const Path real = std::filesystem::weakly_canonical(file, ignored);
    return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

}  // namespace

const graph::Tensor* ExternalData::tensor_of(const TensorProto& tensor) const {
    if (tensors_.empty() || entry(tensor, "location") != in_memory) return nullptr;
    const auto position = number(tensor, "offset", tensors_.size());
    return position.ok() && *position < tensors_.size() ? &tensors_[*position] : nullptr;
}

Result<std::shared_ptr<const std::byte>> ExternalData::bytes_of(const TensorProto& tensor,
                                                                std::int64_t byte_count,
                                                                std::int64_t alignment) {
    const std::string location = entry(tensor, "location");
    if (folder_.empty())
        return fail(ErrorCode::unsupported, "load the model from its file",
                    "tensor `{}` lies in the external file `{}`", tensor.name(), location);
    const Path path = folder_ / location;
    if (location.empty() || Path(location).is_absolute() || !inside(folder_, path))
        return fail(ErrorCode::malformed, "keep external data beside the model",
                    "tensor `{}` names the external file `{}`, outside the model's folder", tensor.name(),
                    location);
    auto file = files_.find(location);
    if (file == files_.end()) {
        auto opened = MappedFile::open(path);
        if (!opened.ok())
            return std::move(opened).error().within(
                fmt::format("external data of tensor `{}`", tensor.name()));
        file = files_.emplace(location, std::move(opened).value()).first;
        copies_left_ += file->second.bytes().size();
    }
    const auto needed = static_cast<std::uint64_t>(byte_count);
    VIRIDIAN_TRY(const std::uint64_t offset, number(tensor, "offset", 0));
    VIRIDIAN_TRY(const std::uint64_t length, number(tensor, "length", needed));
    const std::uint64_t size = file->second.bytes().size();
    if (length != needed || offset > size || size - offset < needed)
        return fail(ErrorCode::malformed, "export the model again",
                    "tensor `{}` needs {} bytes; its external data says {} bytes at {} of `{}`, which has {}",
                    tensor.name(), needed, length, offset, location, size);
    if (offset % static_cast<std::uint64_t>(alignment) == 0) return file->second.at(offset);
    if (needed > copies_left_)
        return fail(ErrorCode::limit_exceeded, "export the model again",
                    "the external data of tensor `{}` overlap those of others", tensor.name());
    copies_left_ -= needed;
    graph::Tensor aligned(graph::ElementType::u8, {byte_count});
    std::memcpy(aligned.mutable_bytes(), file->second.bytes().data() + offset, needed);
    auto owner = std::make_shared<const graph::Tensor>(std::move(aligned));
    return std::shared_ptr<const std::byte>(owner, owner->bytes());
}

}  // namespace viridian::onnx
