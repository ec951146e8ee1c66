#pragma once
// The bytes of a file, front to back, in pieces; gzip and zstd are seen by their first bytes and undone on
// the way. Several compressed members after each other are one text. A damaged or cut compressed stream ends
// the text where the damage begins and says so in `damage`.
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::trace {

class Bytes {
  public:
    virtual ~Bytes() = default;
    // Fills `room` as far as it can; the count, 0 at the end. Errors: file_unreadable.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> room) = 0;
    [[nodiscard]] virtual std::string damage() const { return {}; }
    // No more than so many bytes are left: room for small texts need not be large.
    [[nodiscard]] virtual std::size_t most_left() const { return unknown; }
    static constexpr std::size_t unknown = ~std::size_t{0};
};

// Errors: file_not_found, file_unreadable.
[[nodiscard]] Result<std::unique_ptr<Bytes>> open_bytes(const Path& path);
// The same from memory (`text` must outlive it): compressed or not.
[[nodiscard]] std::unique_ptr<Bytes> bytes_of(std::string_view text);

// `first`, which was read already, and then the rest.
[[nodiscard]] std::unique_ptr<Bytes> replay(std::string first, std::unique_ptr<Bytes> rest);

}  // namespace viridian::trace
