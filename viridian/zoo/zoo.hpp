#pragma once
// Builds the networks that the papers measure, with their published shapes and with seeded weights, in the
// form in which frameworks usually export them (docs/zoo.md). Batch normalisation is folded into
// convolutions, as PyTorch's export does, unless it is kept. The training form has dropout, and batch
// normalisation that computes its statistics from the batch.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::zoo {

// Attention says which inputs a multi-head attention has.
enum class Attention : std::uint8_t {
    self,     // one, for queries, keys and values
    cross,    // one for queries, and one for keys and values: encoder/decoder attention
    general,  // one each for queries, keys and values
};

// Mask says which keys a query does not attend to.
enum class Mask : std::uint8_t {
    none,
    padding,  // those that an input of the network marks
    causal,   // those behind the query
};

// Options holds the choices about a network.
struct Options {
    std::int64_t batch = 1;
    std::uint64_t seed = 0;
    bool keep_batch_norm = false;
    bool training = false;  // the training form
    // The rate of every dropout of the training form, in place of the published ones.
    std::optional<double> dropout = {};
    // These are for transformers only; 0 keeps the published value (sequence: 128).
    std::int64_t sequence = 0;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;  // width of a token
    std::int64_t heads = 0;   // divides `hidden`; 0 keeps the published width of a head
    // These are for single layers of transformers only.
    std::optional<Attention> attention = {};
    std::optional<Mask> mask = {};
    std::int64_t keys = 0;  // tokens of keys and values; 0: as many as queries
};

// A Network is one row of the zoo's list.
struct Network {
    std::string_view name;
    std::string_view description;
    std::string_view source;  // the paper
    std::int64_t parameters;  // as published (torchvision, Hugging Face, torch.nn)
    bool transformer = false;
    bool single_layer = false;  // a transformer that has no number of layers to choose
};

// Return all networks, and their names.
[[nodiscard]] std::vector<Network> networks();
[[nodiscard]] std::vector<std::string_view> names();

// Builds the network `name`. Errors: missing_entry for an unknown name, invalid_argument for options out of
// range.
[[nodiscard]] Result<graph::Graph> build(std::string_view name, const Options& options = {});

}  // namespace viridian::zoo
