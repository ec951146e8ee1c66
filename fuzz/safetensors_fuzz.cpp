// rooms: train
// The bytes of a safetensors file: a header that is accepted covers the data exactly, and is the same after
// it was written and read.
#include <cstddef>
#include <cstring>

#include "viridian/train/checkpoint/safetensors_header.hpp"

using namespace viridian::train;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::uint64_t length = 0;
    if (size < 8) return 0;
    std::memcpy(&length, data, 8);
    if (length > size - 8) return 0;
    const std::string_view json(reinterpret_cast<const char*>(data) + 8, length);
    const auto header = parse_safetensors_header(json, size - 8 - length, "fuzz");
    if (!header.ok()) return 0;
    std::uint64_t end = 0;
    for (const StoredTensor& tensor : header->tensors) {
        if (tensor.begin != end || tensor.end < end) __builtin_trap();
        end = tensor.end;
    }
    if (end != size - 8 - length) __builtin_trap();
    const auto head = safetensors_head(*header);
    if (!head.ok() || head->size() % 8 != 0) __builtin_trap();
    const auto again = parse_safetensors_header(std::string_view(*head).substr(8), end, "fuzz");
    if (!again.ok() || safetensors_head(*again).value() != *head) __builtin_trap();
    return 0;
}
