#pragma once
// An Out takes the bytes of a writer: into a file, compressed if its name ends in .gz or .zst, or into a
// string. A file appears under its name only when `close` has succeeded.
#include <memory>
#include <string>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::trace {

class Out {
  public:
    virtual ~Out() = default;
    [[nodiscard]] virtual Result<void> put(std::string_view bytes) = 0;
    [[nodiscard]] virtual Result<void> close() = 0;  // once, last
};

// Errors: file_not_writable, disk_full.
[[nodiscard]] Result<std::unique_ptr<Out>> open_out(const Path& path);
[[nodiscard]] std::unique_ptr<Out> out_to(std::string& text);

}  // namespace viridian::trace
