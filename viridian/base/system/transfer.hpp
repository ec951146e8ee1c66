#pragma once
// Reads and writes whole ranges of open files. A signal, or a system that moves only a part at once, does not
// end a transfer.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace viridian {

// A Transfer says how many bytes were moved, and the system error (errno) that ended it early; 0 if there is
// none. A read that moves less without an error has met the end of the file.
struct Transfer {
    std::size_t bytes = 0;
    int fault = 0;
};

// Writes `bytes` at the position of `file`, or at `offset`. A file that takes no more is ENOSPC.
[[nodiscard]] Transfer write_all(int file, std::string_view bytes);
[[nodiscard]] Transfer write_all_at(int file, std::uint64_t offset, std::string_view bytes);
// Fills `out` from the position of `file`, or from `offset`.
[[nodiscard]] Transfer read_all(int file, std::span<std::byte> out);
[[nodiscard]] Transfer read_all_at(int file, std::uint64_t offset, std::span<std::byte> out);

// Makes what was renamed in `folder` ("" is the present one) durable. Returns 0, or the system error. A file
// system that cannot sync a folder, and a folder that may not be read, are left alone.
[[nodiscard]] int sync_folder(const std::filesystem::path& folder);

}  // namespace viridian
