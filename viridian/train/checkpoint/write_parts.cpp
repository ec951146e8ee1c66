#include "viridian/train/checkpoint/write_parts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "viridian/base/destination.hpp"

namespace viridian::train {
namespace {

// Returns 0, or the system error.
int write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::write(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

// Makes a rename in `folder` durable. A file system that cannot sync a folder (EINVAL) is left alone.
int sync_folder(const Path& folder) {
    const int handle = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return errno;
    const int fault = ::fsync(handle) == 0 || errno == EINVAL ? 0 : errno;
    ::close(handle);
    return fault;
}

}  // namespace

Result<void> write_parts(const Path& path, std::span<const std::string_view> parts) {
    const Destination to(path);
    const int file = to.open();
    if (file < 0) return write_error(to.path, errno);
    int fault = 0;
    for (const std::string_view part : parts)
        if (fault == 0) fault = write_all(file, part);
    if (fault == 0 && ::fsync(file) != 0 && errno != EINVAL) fault = errno;
    if (::close(file) != 0 && fault == 0) fault = errno;
    if (fault == 0 && !to.place()) fault = errno;
    if (fault != 0) {
        to.abandon();
        return write_error(to.path, fault);
    }
    if (to.beside != to.path) fault = sync_folder(to.path.parent_path());
    if (fault != 0) return write_error(to.path, fault);
    return {};
}

}  // namespace viridian::train
