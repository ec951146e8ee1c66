#pragma once
// Where writers put their bytes: a file, compressed when its name ends in .gz or .zst, or a string. A file
// appears under its name only when `close` has succeeded.
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
