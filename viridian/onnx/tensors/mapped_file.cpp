#include "viridian/onnx/tensors/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace viridian::onnx {

Result<MappedFile> MappedFile::open(const Path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return fail(ErrorCode::file_not_found, "check the path", "there is no file `{}`", path.string());
        return fail(ErrorCode::file_unreadable, "check its permissions", "cannot open `{}`: {}",
                    path.string(), std::strerror(errno));
    }
    struct stat info{};
    const bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    MappedFile mapped;
    mapped.size_ = regular ? static_cast<std::size_t>(info.st_size) : 0;
    void* memory =
        mapped.size_ > 0 ? ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
    ::close(file);
    if (!regular)
        return fail(ErrorCode::file_unreadable, "name a regular file", "`{}` is not a regular file",
                    path.string());
    if (memory == MAP_FAILED)
        return fail(ErrorCode::file_unreadable, "check the file system", "cannot map `{}`: {}", path.string(),
                    std::strerror(errno));
    mapped.data_ = {static_cast<const std::byte*>(memory), [size = mapped.size_](const std::byte* p) {
                        if (p != nullptr) ::munmap(const_cast<std::byte*>(p), size);
                    }};
    return mapped;
}

void MappedFile::drop(std::size_t offset, std::size_t size) const {
    constexpr std::size_t page = 4096;
    const std::size_t begin = (offset + page - 1) / page * page;
    const std::size_t end = std::min(offset + size, size_) / page * page;
    if (begin < end) ::madvise(const_cast<std::byte*>(data_.get()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace viridian::onnx
