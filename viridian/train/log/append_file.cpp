#include "viridian/train/log/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "viridian/base/destination.hpp"

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
    while (!bytes.empty()) {
        const auto count = ::write(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return write_error(path, errno);
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

}  // namespace viridian::train
