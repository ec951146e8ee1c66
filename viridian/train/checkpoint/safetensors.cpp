#include "viridian/train/checkpoint/safetensors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "viridian/base/system/transfer.hpp"
#include "viridian/train/checkpoint/write_parts.hpp"

namespace viridian::train {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors lie in memory as in the file");

// Reads `count` bytes at `offset`. Errors: file_unreadable, also if the file ends before.
Result<void> read_at(int file, const Path& path, std::uint64_t offset, void* to, std::uint64_t count) {
    const Transfer got = read_all_at(file, offset, {static_cast<std::byte*>(to), count});
    if (got.bytes < count)
        return fail(ErrorCode::file_unreadable, "check the disk, or copy the file again",
                    "reading `{}` failed at byte {}: {}", path.string(), offset + got.bytes,
                    got.fault == 0 ? "the file ends there" : std::strerror(got.fault));
    return {};
}

Result<std::shared_ptr<const int>> open_to_read(const Path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not block
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(ErrorCode::file_not_found, "check the path", "there is no file `{}`", path.string());
    if (file < 0)
        return fail(ErrorCode::file_unreadable, "check its permissions", "cannot open `{}`: {}",
                    path.string(), std::strerror(errno));
    return std::shared_ptr<const int>(new const int(file), [](const int* number) {
        ::close(*number);
        delete number;
    });
}

Result<std::uint64_t> size_of_file(int file, const Path& path) {
    struct stat info{};
    if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return fail(ErrorCode::file_unreadable, "name a safetensors file", "`{}` is not a regular file",
                    path.string());
    return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const Path& path) {
    VIRIDIAN_TRY(std::shared_ptr<const int> file, open_to_read(path));
    VIRIDIAN_TRY(const std::uint64_t size, size_of_file(*file, path));
    std::uint64_t length = 0;
    if (size < 8)
        return fail(ErrorCode::malformed, "copy or write the file again",
                    "`{}` has {} bytes, too few for a safetensors file", path.string(), size);
    VIRIDIAN_TRY(read_at(*file, path, 0, &length, 8));
    if (length > size - 8 || length > most_header_bytes)
        return fail(
            ErrorCode::malformed, "check that it is a safetensors file and complete",
            "`{}` says that its header has {} bytes, but the file has {} bytes and a header at most {}",
            path.string(), length, size, most_header_bytes);
    std::string json(length, '\0');
    VIRIDIAN_TRY(read_at(*file, path, 8, json.data(), length));
    VIRIDIAN_TRY(SafetensorsHeader header, parse_safetensors_header(json, size - 8 - length, path.string()));
    return SafetensorsFile(path, std::move(file), std::move(header), 8 + length);
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
    const auto found = std::ranges::find(header_.tensors, name, &StoredTensor::name);
    return found == header_.tensors.end() ? nullptr : &*found;
}

Result<graph::Tensor> SafetensorsFile::read(std::string_view name) const {
    if (const StoredTensor* tensor = find(name)) return read(*tensor);
    return fail(ErrorCode::missing_entry, "check that the file belongs to the model",
                "`{}` has no tensor `{}`", path_.string(), name);
}

Result<graph::Tensor> SafetensorsFile::read(const StoredTensor& stored) const {
    if (!stored.type->element)
        return fail(ErrorCode::unsupported, "convert it to F32 with the program that wrote it",
                    "tensor `{}` of `{}` has the element type {}, which Viridian does not know", stored.name,
                    path_.string(), stored.type->name);
    VIRIDIAN_TRY(graph::element_count(stored.dims));
    graph::Tensor tensor(*stored.type->element, stored.dims);
    VIRIDIAN_TRY(read_at(*file_, path_, data_begin_ + stored.begin, tensor.mutable_bytes(),
                         stored.end - stored.begin));
    if (tensor.type() == graph::ElementType::boolean)
        for (const std::uint8_t byte : tensor.values<std::uint8_t>())
            if (byte > 1)
                return fail(ErrorCode::malformed, "write the file again",
                            "tensor `{}` of `{}` holds the byte {} as a BOOL", stored.name, path_.string(),
                            byte);
    return tensor;
}

Result<void> write_safetensors(const Path& path, std::span<const NamedTensor> tensors,
                               const Metadata& metadata) {
    std::vector<const NamedTensor*> order;
    for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
    std::ranges::sort(order, {}, [](const NamedTensor* named) {
        return std::pair(-graph::size_of(named->tensor.type()), std::string_view(named->name));
    });
    SafetensorsHeader header{metadata, {}};
    std::map<std::string_view, int> names;
    std::vector<std::string_view> parts(1);
    std::uint64_t end = 0;
    for (const NamedTensor* named : order) {
        const StoredType* type = stored_type(named->tensor.type());
        if (type == nullptr || named->name == "__metadata__" || ++names[named->name] > 1)
            return fail(ErrorCode::invalid_argument, "give every tensor a name and a type of its own",
                        "a tensor `{}` of type {} cannot be written to `{}`{}", named->name,
                        graph::name_of(named->tensor.type()), path.string(),
                        names[named->name] > 1 ? ", because another has this name" : "");
        const auto bytes = static_cast<std::size_t>(named->tensor.byte_count());
        header.tensors.push_back({named->name, type, named->tensor.dims(), end, end + bytes});
        parts.emplace_back(reinterpret_cast<const char*>(named->tensor.bytes()), bytes);
        end += bytes;
    }
    VIRIDIAN_TRY(const std::string head, safetensors_head(header));
    parts[0] = head;
    return write_parts(path, parts);
}

}  // namespace viridian::train
