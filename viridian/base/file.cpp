#include "viridian/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "viridian/base/destination.hpp"
#include "viridian/base/system/transfer.hpp"

namespace viridian {
namespace {

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }
    int close() { return number_ < 0 ? 0 : ::close(std::exchange(number_, -1)); }

  private:
    int number_;
};

}  // namespace

Result<std::string> read_file(const Path& path, std::uint64_t limit) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return fail(ErrorCode::file_not_found, "check the path", "there is no file `{}`", path.string());
        return fail(ErrorCode::file_unreadable, "check its permissions", "cannot open `{}`: {}",
                    path.string(), std::strerror(errno));
    }
    struct stat info{};
    if (::fstat(file.number(), &info) == 0 && S_ISDIR(info.st_mode))
        return fail(ErrorCode::file_unreadable, "name a file inside it", "`{}` is a folder", path.string());
    if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > limit)
        return fail(ErrorCode::limit_exceeded, "check that it is the right file",
                    "`{}` has {} bytes, the limit is {}", path.string(), info.st_size, limit);
    std::string bytes;
    if (S_ISREG(info.st_mode)) bytes.reserve(static_cast<std::size_t>(info.st_size));
    std::string chunk(std::size_t{1} << 20, '\0');
    for (;;) {
        const Transfer got = read_all(file.number(), std::as_writable_bytes(std::span(chunk)));
        if (got.fault != 0)
            return fail(ErrorCode::file_unreadable, "check the disk", "reading `{}` failed: {}",
                        path.string(), std::strerror(got.fault));
        if (bytes.size() + got.bytes > limit)
            return fail(ErrorCode::limit_exceeded, "check that it is the right file",
                        "`{}` is longer than {} bytes", path.string(), limit);
        bytes.append(chunk, 0, got.bytes);
        if (got.bytes < chunk.size()) return bytes;
    }
}

Result<void> write_file(const Path& name, std::string_view bytes) {
    const Destination to(name);
    Descriptor file(to.open());
    if (file.number() < 0) return write_error(to.path, errno);
    const auto give_up = [&](int number) {
        to.abandon();
        return write_error(to.path, number);
    };
    if (const Transfer written = write_all(file.number(), bytes); written.fault != 0)
        return give_up(written.fault);
    if (::fsync(file.number()) != 0 && errno != EINVAL) return give_up(errno);
    if (file.close() != 0) return give_up(errno);
    return to.place();
}

Result<TemporaryFile> TemporaryFile::make() {
    std::error_code fault;
    const Path folder = std::filesystem::temp_directory_path(fault);
    std::string name = ((fault ? Path("/tmp") : folder) / "viridian-XXXXXX").string();
    const int file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file < 0)
        return fail(ErrorCode::file_not_writable, "let TMPDIR name a folder that can be written to",
                    "no temporary file can be made as `{}`: {}", name, std::strerror(errno));
    ::close(file);
    return TemporaryFile(name);
}

TemporaryFile::~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
}

}  // namespace viridian
