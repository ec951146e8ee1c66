#include "viridian/trace/join/spill.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "viridian/base/system/transfer.hpp"

namespace viridian::trace {
namespace {

Error spill_error(const Path& folder, int number) {
    const bool full = number == ENOSPC || number == EDQUOT;
    return fail(full ? ErrorCode::disk_full : ErrorCode::file_not_writable,
                "name a folder with space by `--spill DIR`", "cannot keep sorted runs in `{}`: {}",
                folder.string(), std::strerror(number));
}

}  // namespace

Result<SpillFile> SpillFile::create(const Path& folder) {
    int number = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (number < 0) {  // a file system without nameless files
        std::string name = (folder / "viridian-spill-XXXXXX").string();
        number = ::mkostemp(name.data(), O_CLOEXEC);
        if (number < 0) return spill_error(folder, errno);
        ::unlink(name.c_str());
    }
    return SpillFile(number, folder);
}

SpillFile::SpillFile(SpillFile&& other) noexcept
    : number_(std::exchange(other.number_, -1)), size_(other.size_), folder_(std::move(other.folder_)) {}

SpillFile& SpillFile::operator=(SpillFile&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(size_, other.size_);
    std::swap(folder_, other.folder_);
    return *this;
}

SpillFile::~SpillFile() {
    if (number_ >= 0) ::close(number_);
}

Result<void> SpillFile::append(std::span<const char> bytes) {
    const Transfer written = write_all_at(number_, size_, {bytes.data(), bytes.size()});
    size_ += written.bytes;
    if (written.fault != 0) return spill_error(folder_, written.fault);
    return {};
}

Result<void> SpillFile::read(std::uint64_t offset, std::span<char> into) const {
    const Transfer got = read_all_at(number_, offset, std::as_writable_bytes(into));
    if (got.bytes < into.size()) return spill_error(folder_, got.fault != 0 ? got.fault : EIO);
    return {};
}

}  // namespace viridian::trace
