#include "viridian/data/sources/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "viridian/base/system/transfer.hpp"

namespace viridian::data {

struct ByteSource::Storage {
    Storage(int opened, std::string held) : descriptor(opened), bytes(std::move(held)) {}
    ~Storage() {
        if (descriptor >= 0) ::close(descriptor);
    }
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    int descriptor;  // -1: the bytes are in memory
    std::string bytes;
};

Result<ByteSource> ByteSource::open(const Path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return fail(ErrorCode::file_not_found, "check the path", "there is no file `{}`", path.string());
        return fail(ErrorCode::file_unreadable, "check its permissions", "cannot open `{}`: {}",
                    path.string(), std::strerror(errno));
    }
    struct stat info{};
    const bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    ByteSource source = of_descriptor(file, static_cast<std::uint64_t>(info.st_size), path.string());
    if (!regular)
        return fail(ErrorCode::file_unreadable, "name a regular file", "`{}` is not a regular file",
                    path.string());
    return source;
}

ByteSource ByteSource::of_descriptor(int descriptor, std::uint64_t size, std::string name) {
    ByteSource source;
    source.storage_ = std::make_shared<Storage>(descriptor, "");
    source.name_ = std::move(name);
    source.size_ = size;
    return source;
}

ByteSource ByteSource::of(std::string bytes, std::string name) {
    ByteSource source;
    source.size_ = bytes.size();
    source.storage_ = std::make_shared<Storage>(-1, std::move(bytes));
    source.name_ = std::move(name);
    return source;
}

Result<void> ByteSource::read(std::uint64_t offset, std::span<std::byte> out) const {
    const auto too_short = [&] {
        return fail(ErrorCode::malformed, "copy or write the file again",
                    "`{}` ends before byte {}, which is needed", name_, offset + out.size());
    };
    if (offset > size_ || out.size() > size_ - offset) return too_short();
    offset += start_;
    if (storage_->descriptor < 0) {
        if (!out.empty()) std::memcpy(out.data(), storage_->bytes.data() + offset, out.size());
        return {};
    }
    const Transfer got = read_all_at(storage_->descriptor, offset, out);
    if (got.fault != 0)
        return fail(ErrorCode::file_unreadable, "check the disk", "reading `{}` failed: {}", name_,
                    std::strerror(got.fault));
    if (got.bytes < out.size()) return too_short();
    return {};
}

Result<std::string> ByteSource::text(std::uint64_t offset, std::size_t size) const {
    const std::uint64_t left = offset < size_ ? size_ - offset : 0;
    std::string bytes(std::min<std::uint64_t>(size, left), '\0');
    VIRIDIAN_TRY(read(offset, std::as_writable_bytes(std::span(bytes))));
    return bytes;
}

ByteSource ByteSource::part(std::uint64_t offset, std::uint64_t size, std::string name) const {
    ByteSource source = *this;
    source.name_ = std::move(name);
    source.start_ = start_ + offset;
    source.size_ = size;
    return source;
}

}  // namespace viridian::data
