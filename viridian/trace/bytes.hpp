#pragma once
// Bytes reads a file or a text from front to back in pieces. It recognises gzip and zstd by their first bytes
// and decompresses on the way; several compressed members in a row are one text. If a compressed stream is
// damaged or cut, the text ends where the damage begins, and `damage` says so.
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::trace {

class Bytes {
  public:
    virtual ~Bytes() = default;
    // Fills `room` as far as it can and returns the number of bytes, 0 at the end. Errors: file_unreadable.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> room) = 0;
    // Returns a text about the damage of a compressed stream, "" if there is none.
    [[nodiscard]] virtual std::string damage() const { return {}; }
    // Returns an upper bound of the bytes that are left, or `unknown`, so that small texts need little
    // memory.
    [[nodiscard]] virtual std::size_t most_left() const { return unknown; }
    static constexpr std::size_t unknown = ~std::size_t{0};
};

// Opens the file `path`. Errors: file_not_found, file_unreadable.
[[nodiscard]] Result<std::unique_ptr<Bytes>> open_bytes(const Path& path);
// Returns Bytes that read `text`, compressed or not. `text` must outlive them.
[[nodiscard]] std::unique_ptr<Bytes> bytes_of(std::string_view text);

// Returns Bytes that give `first`, which was read already, and then `rest`.
[[nodiscard]] std::unique_ptr<Bytes> replay(std::string first, std::unique_ptr<Bytes> rest);

}  // namespace viridian::trace
