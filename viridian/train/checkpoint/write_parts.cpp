#include "viridian/train/checkpoint/write_parts.hpp"

#include <unistd.h>

#include <cerrno>

#include "viridian/base/destination.hpp"
#include "viridian/base/system/transfer.hpp"

namespace viridian::train {

Result<void> write_parts(const Path& path, std::span<const std::string_view> parts) {
    const Destination to(path);
    const int file = to.open();
    if (file < 0) return write_error(to.path, errno);
    int fault = 0;
    for (const std::string_view part : parts)
        if (fault == 0) fault = write_all(file, part).fault;
    if (fault == 0 && ::fsync(file) != 0 && errno != EINVAL) fault = errno;
    if (::close(file) != 0 && fault == 0) fault = errno;
    if (fault == 0) return to.place();
    to.abandon();
    return write_error(to.path, fault);
}

}  // namespace viridian::train
