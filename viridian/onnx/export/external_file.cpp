#include "viridian/onnx/export/external_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "viridian/base/destination.hpp"

namespace viridian::onnx {

struct ExternalFile::Stream {
    explicit Stream(const Path& name) : to(name) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
        if (file != nullptr) std::fclose(file);
        if (!placed) to.abandon();
    }

    Destination to;
    std::FILE* file = nullptr;
    bool placed = false;
};

ExternalFile::~ExternalFile() = default;

Result<ExternalFile> ExternalFile::create(Path path, std::int64_t from) {
    auto stream = std::make_shared<Stream>(path);
    const int number = stream->to.open();
    stream->file = number < 0 ? nullptr : ::fdopen(number, "wb");
    if (stream->file == nullptr) return write_error(path, errno);
    return ExternalFile(std::move(path), from, std::move(stream));
}

Result<bool> ExternalFile::take(const graph::Tensor& tensor, TensorProto& proto) {
    const std::int64_t size = tensor.byte_count();
    if (size < from_) return false;
    auto [place, fresh] = written_.try_emplace(tensor.bytes(), 0);
    if (fresh) {
        const std::int64_t alignment = size >= 65536 ? 4096 : 64;
        const std::int64_t start = (offset_ + alignment - 1) / alignment * alignment;
        static constexpr char zeros[4096] = {};
        const auto padding = static_cast<std::size_t>(start - offset_);
        if (std::fwrite(zeros, 1, padding, stream_->file) != padding ||
            std::fwrite(tensor.bytes(), 1, static_cast<std::size_t>(size), stream_->file) !=
                static_cast<std::size_t>(size))
            return write_error(path_, errno);
        place->second = start;
        offset_ = start + size;
    }
    proto.set_data_type(onnx_type(tensor.type()));
    for (const std::int64_t dimension : tensor.dims()) proto.add_dims(dimension);
    proto.set_data_location(TensorProto::EXTERNAL);
    const auto add = [&](const char* key, std::string value) {
        auto& entry = *proto.add_external_data();
        entry.set_key(key);
        entry.set_value(std::move(value));
    };
    add("location", path_.filename().string());
    add("offset", std::to_string(place->second));
    add("length", std::to_string(size));
    return true;
}

Result<void> ExternalFile::finish() {
    std::FILE* file = std::exchange(stream_->file, nullptr);
    const bool written = std::fflush(file) == 0 && (::fsync(::fileno(file)) == 0 || errno == EINVAL);
    const int number = errno;
    if (std::fclose(file) != 0 || !written) return write_error(path_, written ? errno : number);
    stream_->placed = true;  // or removed
    return stream_->to.place();
}

}  // namespace viridian::onnx
