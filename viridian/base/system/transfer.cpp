#include "viridian/base/system/transfer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace viridian {
namespace {

// Calls `once(done)` until `size` bytes are moved, it moves none, or it fails.
template <class Once>
Transfer repeat(std::size_t size, Once once) {
    Transfer moved;
    while (moved.bytes < size) {
        const auto count = once(moved.bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) moved.fault = errno;
        if (count <= 0) break;
        moved.bytes += static_cast<std::size_t>(count);
    }
    return moved;
}

Transfer no_less_than(std::size_t size, Transfer moved) {
    if (moved.bytes < size && moved.fault == 0) moved.fault = ENOSPC;
    return moved;
}

}  // namespace

Transfer write_all(int file, std::string_view bytes) {
    return no_less_than(bytes.size(), repeat(bytes.size(), [&](std::size_t done) {
                            return ::write(file, bytes.data() + done, bytes.size() - done);
                        }));
}

Transfer write_all_at(int file, std::uint64_t offset, std::string_view bytes) {
    return no_less_than(bytes.size(), repeat(bytes.size(), [&](std::size_t done) {
                            return ::pwrite(file, bytes.data() + done, bytes.size() - done,
                                            static_cast<off_t>(offset + done));
                        }));
}

Transfer read_all(int file, std::span<std::byte> out) {
    return repeat(out.size(),
                  [&](std::size_t done) { return ::read(file, out.data() + done, out.size() - done); });
}

Transfer read_all_at(int file, std::uint64_t offset, std::span<std::byte> out) {
    return repeat(out.size(), [&](std::size_t done) {
        return ::pread(file, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    });
}

int sync_folder(const std::filesystem::path& folder) {
    const int handle = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return errno == EACCES ? 0 : errno;
    const int fault = ::fsync(handle) == 0 || errno == EINVAL ? 0 : errno;
    ::close(handle);
    return fault;
}

}  // namespace viridian
