#pragma once
// The networks of the papers, built in code to their published shapes with seeded weights, as their usual
// exports look (docs/zoo.md). Batch normalisation is folded into convolutions, as PyTorch's export does it,
// unless kept.
#include <cstdint>
#include <string_view>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::zoo {

struct Options {
    std::int64_t batch = 1;
    std::uint64_t seed = 0;
    bool keep_batch_norm = false;
    // Transformers only; 0 keeps what was published (sequence: 128).
    std::int64_t sequence = 0;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;  // width; the number of heads follows at 64 a head
};

struct Entry {
    std::string_view name;
    std::string_view description;
    std::string_view source;  // the paper
    std::int64_t parameters;  // as published (torchvision, Hugging Face)
    bool transformer = false;
};

[[nodiscard]] std::vector<Entry> entries();
[[nodiscard]] std::vector<std::string_view> names();

// Errors: missing_entry for an unknown name, invalid_argument for options out of range.
[[nodiscard]] Result<graph::Graph> build(std::string_view name, const Options& options = {});

}  // namespace viridian::zoo
