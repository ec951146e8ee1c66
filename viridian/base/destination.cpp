#include "viridian/base/destination.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "viridian/base/system/transfer.hpp"

namespace viridian {

Destination::Destination(const Path& name) : path(name) {
    std::error_code unknown;
    if (std::filesystem::is_symlink(name, unknown))
        if (Path led = std::filesystem::canonical(name, unknown); !led.empty()) path = std::move(led);
    const bool device = std::filesystem::is_other(path, unknown);
    beside = device ? path : Path(path.string() + fmt::format(".{}.partial", ::getpid()));
}

int Destination::open() const {
    if (beside == path) return ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const auto make = [&] {
        return ::open(beside.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    };
    const int file = make();  // whoever knew the name may have put a link there
    if (file >= 0 || errno != EEXIST || ::unlink(beside.c_str()) != 0) return file;
    return make();
}

Result<void> Destination::place() const {
    if (beside == path) return {};
    if (std::rename(beside.c_str(), path.c_str()) != 0) {
        const int why = errno;
        abandon();
        return write_error(path, why);
    }
    if (const int why = sync_folder(path.parent_path()); why != 0)
        return fail(why == ENOSPC || why == EDQUOT ? ErrorCode::disk_full : ErrorCode::file_not_writable,
                    "check the disk, and write it again to be sure",
                    "`{}` was written, but its folder could not be synced, so it may be lost if the machine "
                    "stops now: {}",
                    path.string(), std::strerror(why));
    return {};
}

void Destination::abandon() const {
    if (beside != path) ::unlink(beside.c_str());
}

Result<void> check_writable(const Path& name) {
    const Destination to(name);
    std::error_code unknown;
    if (std::filesystem::is_directory(to.path, unknown)) return write_error(to.path, EISDIR);
    if (to.beside == to.path)  // opening a pipe would wait for its reader
        return ::access(to.path.c_str(), W_OK) == 0 ? Result<void>() : write_error(to.path, errno);
    const int file = to.open();
    if (file < 0) return write_error(to.path, errno);
    ::close(file);
    to.abandon();
    return {};
}

Error write_error(const Path& path, int number) {
    if (number == ENOSPC || number == EDQUOT)
        return fail(ErrorCode::disk_full, "free some space; nothing was overwritten",
                    "no space left to write `{}`", path.string());
    if (number == EFBIG)
        return fail(ErrorCode::disk_full, "raise the limit with `ulimit -f`; nothing was overwritten",
                    "`{}` would be larger than a file may be", path.string());
    return fail(ErrorCode::file_not_writable, "check the folder and its permissions", "cannot write `{}`: {}",
                path.string(), std::strerror(number));
}

}  // namespace viridian
