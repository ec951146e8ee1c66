#pragma once
// Writes and reads the metadata of a checkpoint: a JSON text with all but the tensors' bytes, and the
// checksum of that text.
#include "viridian/train/checkpoint/checkpoint.hpp"

namespace viridian::train {

// What the metadata say about one tensor.
struct StateDescription {
    std::string name;
    std::string role;
    std::string of;
    std::uint32_t checksum = 0;  // of type, dimensions and bytes

    bool operator==(const StateDescription&) const = default;
};

struct Description {
    Checkpoint head;  // without states
    std::vector<StateDescription> states;
};

// Returns the checksum of a tensor.
[[nodiscard]] std::uint32_t checksum_of(const graph::Tensor& tensor);

[[nodiscard]] Metadata describe(const Checkpoint& checkpoint);
// Errors: malformed; `file` stands for the file.
[[nodiscard]] Result<Description> read_description(const Metadata& metadata, std::string_view file);

}  // namespace viridian::train
