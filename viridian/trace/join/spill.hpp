#pragma once
// A SpillFile is temporary space on disk for data that does not fit in memory: a nameless file in a folder
// that the user chose. It disappears when it is closed, even if the process is killed.
#include <cstdint>
#include <span>

#include "viridian/base/file.hpp"

namespace viridian::trace {

class SpillFile {
  public:
    // Creates an empty file in `folder`. Errors, here and below: file_not_writable, disk_full, naming the
    // folder and `--spill`.
    [[nodiscard]] static Result<SpillFile> create(const Path& folder);

    SpillFile(SpillFile&& other) noexcept;
    SpillFile& operator=(SpillFile&& other) noexcept;
    ~SpillFile();

    [[nodiscard]] Result<void> append(std::span<const char> bytes);
    // Reads the bytes from `offset` on into the whole of `into`.
    [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<char> into) const;
    [[nodiscard]] std::uint64_t size() const { return size_; }

  private:
    SpillFile(int number, Path folder) : number_(number), folder_(std::move(folder)) {}
    int number_ = -1;
    std::uint64_t size_ = 0;
    Path folder_;
};

}  // namespace viridian::trace
