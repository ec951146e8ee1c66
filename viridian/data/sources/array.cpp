#include "viridian/data/sources/array.hpp"

#include <algorithm>

namespace viridian::data {
namespace {

void reverse_elements(std::span<std::byte> bytes, std::size_t size) {
    for (std::size_t at = 0; at + size <= bytes.size(); at += size)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

// Reads samples of `size` bytes each; samples that follow each other in the file are read at once.
Result<void> read_array(const ByteSource& bytes, std::size_t size, SampleList samples,
                        std::span<std::byte> out) {
    for (std::size_t first = 0; first < samples.size();) {
        std::size_t last = first + 1;
        while (last < samples.size() && samples[last] == samples[last - 1] + 1) ++last;
        VIRIDIAN_TRY(bytes.read(static_cast<std::uint64_t>(samples[first]) * size,
                                out.subspan(first * size, (last - first) * size)));
        first = last;
    }
    return {};
}

}  // namespace

Field array_field(std::string name, Array array) {
    Field field;
    field.column.name = std::move(name);
    field.column.type = array.type;
    field.column.dims.assign(array.dims.begin() + 1, array.dims.end());
    const auto element = static_cast<std::size_t>(graph::size_of(array.type));
    std::size_t size = element;  // the product exists: a reader has checked the whole array's
    for (const std::int64_t dimension : field.column.dims) size *= static_cast<std::size_t>(dimension);
    field.read = [bytes = array.bytes, size, element, swap = array.big_endian && element > 1](
                     SampleList samples, std::span<std::byte> out) -> Result<void> {
        VIRIDIAN_TRY(read_array(bytes, size, samples, out));
        if (swap) reverse_elements(out, element);
        return {};
    };
    return field;
}

}  // namespace viridian::data
