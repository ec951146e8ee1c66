#include "viridian/meter/meters/read_number.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace viridian::meter {
namespace {

Error from_errno(int code, const Path& path) {
    const std::string name = path.string();
    if (code == EACCES || code == EPERM)
        return fail(ErrorCode::no_permission, fmt::format("run `sudo chmod a+r {}`", name),
                    "`{}` may not be read by this user", name);
    if (code == ENOENT || code == ENODEV || code == ENXIO)
        return fail(ErrorCode::file_not_found, "run `viridian doctor`", "`{}` is gone", name);
    return fail(ErrorCode::file_unreadable, "run `viridian doctor`", "`{}` cannot be read: {}", name,
                std::strerror(code));
}

int open_quietly(const Path& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }

}  // namespace

KernelFile::KernelFile(const Path& path, int file)
    : path_(std::make_shared<const Path>(path)), file_(new int(file), [](int* handle) {
          ::close(*handle);
          delete handle;
      }) {}

Result<KernelFile> KernelFile::open(const Path& path) {
    const int file = open_quietly(path);
    if (file < 0) return from_errno(errno, path);
    return KernelFile(path, file);
}

Result<std::size_t> KernelFile::read(std::span<char> into) const {
    const ssize_t size = ::pread(*file_, into.data(), into.size(), 0);
    if (size > 0) return static_cast<std::size_t>(size);
    const int code = errno;
    const int again = open_quietly(path());
    if (again >= 0) {
        ::close(*file_);
        *file_ = again;
        if (const ssize_t second = ::pread(again, into.data(), into.size(), 0); second > 0)
            return static_cast<std::size_t>(second);
    }
    if (size == 0)
        return fail(ErrorCode::file_unreadable, "run `viridian doctor`", "`{}` is empty", path().string());
    return from_errno(code, path());
}

Result<NumberFile> NumberFile::open(const Path& path) {
    VIRIDIAN_TRY(KernelFile file, KernelFile::open(path));
    return NumberFile(std::move(file));
}

Result<std::int64_t> NumberFile::read() const {
    std::array<char, 64> text{};
    VIRIDIAN_TRY(const std::size_t size, file_.read(text));
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + size, number);
    if (fault != std::errc{} || (end != text.data() + size && *end != '\n'))
        return fail(ErrorCode::malformed, "run `viridian doctor`", "`{}` holds `{}`, not an integer",
                    path().string(), std::string_view(text.data(), size));
    return number;
}

std::string first_line(const Path& path) {
    const Result<std::string> text = read_file(path, 1 << 16);
    if (!text.ok()) return {};
    const std::size_t begin = text->find_first_not_of(" \t\n");
    if (begin == std::string::npos) return {};
    const std::size_t line_end = std::min(text->find('\n', begin), text->size());
    const std::size_t end = text->find_last_not_of(" \t\r", line_end - 1);
    return text->substr(begin, end + 1 - begin);
}

}  // namespace viridian::meter
