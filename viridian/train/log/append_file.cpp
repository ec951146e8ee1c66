#include "viridian/train/log/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "viridian/base/destination.hpp"
#include "viridian/base/system/transfer.hpp"

namespace viridian::train {

Result<std::shared_ptr<const int>> open_to_append(const Path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_APPEND, 0644);
    if (file < 0) return write_error(path, errno);
    return std::shared_ptr<const int>(new const int(file), [](const int* number) {
        ::close(*number);
        delete number;
    });
}

Result<void> append(int file, const Path& path, std::string_view bytes) {
    if (const Transfer written = write_all(file, bytes); written.fault != 0)
        return write_error(path, written.fault);
    return {};
}

}  // namespace viridian::train
