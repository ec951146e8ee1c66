#pragma once
// Decompresses a whole file or archive member once, in pieces of 256 KiB, because samples are read in any
// order and a compressed stream can only be read from its beginning. The result is a Spool's: in memory up to
// 1 MiB, beyond that in a temporary file, so memory stays bounded whatever the size.
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

enum class Packing {
    deflate,  // RFC 1951 without a header, as in zip archives
    gzip,     // RFC 1952, one member or several after each other
};

struct Unpacked {
    ByteSource bytes;
    std::uint32_t crc = 0;  // CRC-32 of the bytes
};

[[nodiscard]] inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// `limit` bounds the plain bytes. Errors: malformed (damaged or cut off), limit_exceeded, file_not_writable,
// disk_full.
[[nodiscard]] Result<Unpacked> unpack(const ByteSource& packed, Packing packing, std::uint64_t limit);

}  // namespace viridian::data
