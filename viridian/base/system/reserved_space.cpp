#include "viridian/base/system/reserved_space.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "viridian/base/destination.hpp"

namespace viridian {

Result<ReservedSpace> ReservedSpace::make(const Path& file, std::uint64_t bytes) {
    ReservedSpace space;
    const Destination to(file);
    if (to.beside == to.path) return space;
    const int number = to.open();
    if (number < 0) return write_error(to.path, errno);
    to.abandon();  // the file lives as long as it is open
    space.file_ = std::shared_ptr<const int>(new const int(number), [](const int* open) {
        ::close(*open);
        delete open;
    });
    struct statvfs disk{};
    if (::fstatvfs(number, &disk) == 0 && std::uint64_t{disk.f_bavail} * disk.f_frsize < bytes)
        return write_error(to.path, ENOSPC);
    if (bytes == 0 || ::fallocate(number, 0, 0, static_cast<off_t>(bytes)) == 0) return space;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) return write_error(to.path, errno);
    return space;
}

}  // namespace viridian
