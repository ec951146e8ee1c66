#include "viridian/train/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace viridian::train {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

// tables[k][b] is the checksum of the byte b that is followed by k zero bytes. Eight bytes are taken at a
// time ("slicing by 8": Kounavis and Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC
// Generation", 2008, section 4).
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables crc_tables() {
    CrcTables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t byte = 0; byte < 256; ++byte)
            tables[k][byte] = (tables[k - 1][byte] >> 8U) ^ tables[0][tables[k - 1][byte] & 0xffU];
    return tables;
}

constexpr CrcTables crc_table = crc_tables();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
    std::uint32_t crc = ~before;
    while (bytes.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        word ^= crc;
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) crc ^= crc_table[7 - k][(word >> (8 * k)) & 0xffU];
        bytes.remove_prefix(8);
    }
    for (const char c : bytes)
        crc = (crc >> 8U) ^ crc_table[0][(crc ^ static_cast<unsigned char>(c)) & 0xffU];
    return ~crc;
}

}  // namespace viridian::train
