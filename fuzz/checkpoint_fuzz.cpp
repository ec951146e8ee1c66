// rooms: train
// The description of a checkpoint, with a checksum that fits: any text is a description that survives being
// written and read, or an error.
#include <cstddef>

#include "viridian/train/checkpoint/description.hpp"
#include "viridian/train/crc32c.hpp"

using namespace viridian::train;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto read = read_description(
        {{"viridian.checkpoint", text}, {"viridian.crc32c", fmt::format("{:08x}", crc32c(text))}}, "fuzz");
    if (!read.ok()) return 0;
    const Metadata written = describe(read->head);
    const auto again = read_description(written, "fuzz");
    if (!again.ok() || describe(again->head) != written) __builtin_trap();
    return 0;
}
