#pragma once
// Networks of real shape with made-up kernels and prices: what the solvers are timed on.
#include "random_network.hpp"

namespace viridian::search::tests {

struct Kernels {
    std::size_t per_region = 30;
    std::size_t formats = 4;
    std::size_t longest_chain = 3;  // fused regions
};

[[nodiscard]] Network resnet_like(std::size_t blocks, const Kernels& kernels, std::uint64_t seed);
[[nodiscard]] Network inception_like(std::size_t modules, const Kernels& kernels, std::uint64_t seed);
// One attention mask is read by every layer.
[[nodiscard]] Network transformer_like(std::size_t layers, bool backward, const Kernels& kernels,
                                       std::uint64_t seed);
// Every layer reads the concatenation of all before it.
[[nodiscard]] Network dense_block(std::size_t layers, const Kernels& kernels, std::uint64_t seed);

}  // namespace viridian::search::tests
