#include "viridian/data/sources/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "viridian/base/system/transfer.hpp"

namespace viridian::data {

Spool::~Spool() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Spool::open_file() {
    VIRIDIAN_TRY(const TemporaryFile file,
                 TemporaryFile::make());  // loses its name at the end of this function
    descriptor_ = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0)
        return fail(ErrorCode::file_not_writable, "let TMPDIR name a folder that can be written to",
                    "cannot open the temporary file `{}`: {}", file.path().string(), std::strerror(errno));
    return {};
}

Result<void> Spool::append(std::span<const std::byte> bytes) {
    constexpr std::size_t most_in_memory = std::size_t{1} << 20;
    size_ += bytes.size();
    if (descriptor_ < 0) {
        memory_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (memory_.size() <= most_in_memory) return {};
        VIRIDIAN_TRY(open_file());
        bytes = std::as_bytes(std::span(memory_));
    }
    const Transfer written =
        write_all(descriptor_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (written.fault != 0)
        return fail(written.fault == ENOSPC ? ErrorCode::disk_full : ErrorCode::file_not_writable,
                    "let TMPDIR name a folder with more room, or save the data uncompressed",
                    "unpacking `{}` to a temporary file failed: {}", name_, std::strerror(written.fault));
    if (!memory_.empty()) std::string().swap(memory_);
    return {};
}

ByteSource Spool::finish() {
    if (descriptor_ < 0) return ByteSource::of(std::move(memory_), name_);
    return ByteSource::of_descriptor(std::exchange(descriptor_, -1), size_, name_);
}

}  // namespace viridian::data
