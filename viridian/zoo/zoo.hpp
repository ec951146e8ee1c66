#pragma once
// Builds the networks that the papers measure, with their published shapes and with seeded weights, in the
// form in which frameworks usually export them (docs/zoo.md). Batch normalisation is folded into
// convolutions, as PyTorch's export does, unless it is kept.
#include <cstdint>
#include <string_view>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::zoo {

// Options holds the choices about a network.
struct Options {
    std::int64_t batch = 1;
    std::uint64_t seed = 0;
    bool keep_batch_norm = false;
    // These are for transformers only; 0 keeps the published value (sequence: 128).
    std::int64_t sequence = 0;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;  // width of a token; every 64 make a head
};

// A Network is one row of the zoo's list.
struct Network {
    std::string_view name;
    std::string_view description;
    std::string_view source;  // the paper
    std::int64_t parameters;  // as published (torchvision, Hugging Face)
    bool transformer = false;
};

// Return all networks, and their names.
[[nodiscard]] std::vector<Network> networks();
[[nodiscard]] std::vector<std::string_view> names();

// Builds the network `name`. Errors: missing_entry for an unknown name, invalid_argument for options out of
// range.
[[nodiscard]] Result<graph::Graph> build(std::string_view name, const Options& options = {});

}  // namespace viridian::zoo
