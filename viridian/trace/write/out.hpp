#pragma once
// An Out receives the bytes of a writer and puts them into a file or a string. A file is compressed if its
// name ends in .gz or .zst, and it appears under its name only when `close` has succeeded.
#include <memory>
#include <string>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::trace {

class Out {
  public:
    virtual ~Out() = default;
    // Appends `bytes`. Errors: file_not_writable, disk_full, out_of_memory (compression).
    [[nodiscard]] virtual Result<void> put(std::string_view bytes) = 0;
    // Writes all that is left and finishes the file. Call it once, last. Without it no file appears. Errors:
    // those of `put`.
    [[nodiscard]] virtual Result<void> close() = 0;
};

// Opens an Out for the file `path`. Errors: file_not_writable, disk_full.
[[nodiscard]] Result<std::unique_ptr<Out>> open_out(const Path& path);
// Returns an Out that appends to `text`, which must outlive it.
[[nodiscard]] std::unique_ptr<Out> out_to(std::string& text);

}  // namespace viridian::trace
