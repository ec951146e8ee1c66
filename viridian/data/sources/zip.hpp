#pragma once
// Reads the list of a zip archive's members, and members (PKWARE's APPNOTE 6.3.10, with zip64): stored and
// deflated ones, as NumPy writes them.
#include <vector>

#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

struct ZipMember {
    std::string name;
    std::uint16_t method = 0;             // 0: stored, 8: deflated
    std::uint32_t crc = 0;                // CRC-32 of the plain bytes
    std::uint64_t packed = 0, plain = 0;  // bytes in the archive, and after unpacking
    std::uint64_t header = 0;             // where its local header begins
};

[[nodiscard]] inline bool is_zip(std::string_view bytes) {
    return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

// Returns the members in the order of the archive's directory. Errors: malformed, unsupported (encrypted, or
// in several parts).
[[nodiscard]] Result<std::vector<ZipMember>> zip_members(const ByteSource& archive);

// Returns the plain bytes of a member: a part of the archive if it is stored, otherwise unpacked once
// (inflate.hpp). `name` stands for it in errors. Errors: malformed, unsupported (another method),
// file_not_writable, disk_full.
[[nodiscard]] Result<ByteSource> open_member(const ByteSource& archive, const ZipMember& member,
                                             std::string name);

}  // namespace viridian::data
