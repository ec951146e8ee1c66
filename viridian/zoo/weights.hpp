#pragma once
// Seeded weights: each tensor depends on the seed and its own name alone, so networks that share layers share
// weights, whatever the order of building.
#include <string_view>

#include "viridian/graph/tensor.hpp"

namespace viridian::zoo {

// Keeps a variance through a layer and its rectifier: that of max(0, x), x normal, is (1 − 1/π)/2.
constexpr double rectified_variance = 0.3408450569081047;

class Weights {
  public:
    explicit Weights(std::uint64_t seed) : seed_(seed) {}

    // Uniform with the given mean and standard deviation.
    [[nodiscard]] graph::Tensor uniform(std::string_view name, graph::Dims dims, double mean,
                                        double deviation) const;
    // Keeps the second moment of what a layer sums: deviation = gain / sqrt(fan_in) (He et al. 2015: gain √2
    // after a rectifier; Glorot and Bengio 2010: gain 1).
    [[nodiscard]] graph::Tensor scaled(std::string_view name, graph::Dims dims, std::int64_t fan_in,
                                       double gain) const;
    // The same with the mean of every row (what is multiplied into one result) taken away: the mean that
    // rectified inputs share, which tells nothing, does not add up over the layers; `gain` then is of the
    // variance.
    [[nodiscard]] graph::Tensor balanced(std::string_view name, graph::Dims dims, double gain) const;

  private:
    std::uint64_t seed_;
};

}  // namespace viridian::zoo
