#pragma once
// Makes seeded weights. A tensor depends only on the seed and its own name, so networks that share layers
// share weights, in whatever order they are built.
#include <string_view>

#include "viridian/graph/tensor.hpp"

namespace viridian::zoo {

// The variance of max(0, x) for x of a standard normal distribution, (1 − 1/π)/2. Weights scaled by it keep
// the variance through a layer and its rectifier.
constexpr double rectified_variance = 0.3408450569081047;

class Weights {
  public:
    explicit Weights(std::uint64_t seed) : seed_(seed) {}

    // Uniformly distributed values with the given mean and standard deviation.
    [[nodiscard]] graph::Tensor uniform(std::string_view name, graph::Dims dims, double mean,
                                        double deviation) const;
    // Keeps the second moment of what a layer sums: deviation = gain / sqrt(fan_in) (He et al. 2015: gain √2
    // after a rectifier; Glorot and Bengio 2010: gain 1).
    [[nodiscard]] graph::Tensor scaled(std::string_view name, graph::Dims dims, std::int64_t fan_in,
                                       double gain) const;
    // As `scaled`, and the mean of every row (the weights of one result) is subtracted, so that the mean that
    // rectified inputs share does not grow from layer to layer. `gain` then scales the variance.
    [[nodiscard]] graph::Tensor balanced(std::string_view name, graph::Dims dims, double gain) const;

  private:
    std::uint64_t seed_;
};

}  // namespace viridian::zoo
