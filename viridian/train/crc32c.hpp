#pragma once
// Computes CRC-32C, the checksum of checkpoints and of TensorBoard's event files: the cyclic redundancy check
// with Castagnoli's polynomial 0x1EDC6F41 (RFC 3720, appendix B.4).
#include <cstdint>
#include <string_view>

namespace viridian::train {

// Returns the checksum of `bytes`. With the checksum of the bytes before them it continues:
// crc32c("b", crc32c("a")) equals crc32c("ab").
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace viridian::train
