#pragma once
// Parses and writes the header of a safetensors file: the names, element types, dimensions and places of its
// tensors. A header is refused unless every byte of the data belongs to exactly one tensor, so that a file
// cannot hide or share bytes.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/graph/shape.hpp"

namespace viridian::train {

// Texts about the file as a whole, which the format calls __metadata__.
using Metadata = std::map<std::string, std::string>;

// A StoredType is an element type of the format. Viridian can read those that have an `element`.
struct StoredType {
    std::string_view name;  // "BF16"
    int bits = 0;           // of one element
    std::optional<graph::ElementType> element;
};
// Returns the type of this name, or of this element type; null if the format has none.
[[nodiscard]] const StoredType* stored_type(std::string_view name);
[[nodiscard]] const StoredType* stored_type(graph::ElementType element);

// A StoredTensor is one entry of the header. Its bytes are [begin, end) of the data, which follows the
// header.
struct StoredTensor {
    std::string name;
    const StoredType* type = nullptr;
    graph::Dims dims;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

struct SafetensorsHeader {
    Metadata metadata;
    std::vector<StoredTensor> tensors;  // in the order of their bytes
};

// The most bytes that a header may have; the format's own implementation has the same limit.
inline constexpr std::uint64_t most_header_bytes = 100'000'000;

// Parses the JSON text of a header that is followed by `data_bytes` bytes; `file` stands for the file in
// errors. Errors: malformed (no JSON object; a name twice; a missing or unknown member; an unknown element
// type; sizes that do not follow from type and dimensions; overlaps, gaps, and data that is missing or left
// over), limit_exceeded (more than 32 dimensions).
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view json,
                                                                 std::uint64_t data_bytes,
                                                                 std::string_view file);

// Returns the first bytes of a file, up to its data: the length, the header, and blanks that make the data
// begin at a multiple of 8. The tensors' places are written as they are. Errors: invalid_argument (a text
// that is no UTF-8), limit_exceeded (a header of more than `most_header_bytes`).
[[nodiscard]] Result<std::string> safetensors_head(const SafetensorsHeader& header);

}  // namespace viridian::train
