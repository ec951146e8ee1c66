#pragma once
// Makes seeded weights. A tensor depends only on the seed and its own name, so networks that share layers
// share weights, in whatever order they are built.
#include <string_view>

#include "viridian/graph/tensor.hpp"

namespace viridian::zoo {

// The variance of max(0, x) for x of a standard normal distribution, (1 − 1/π)/2. Balanced weights of gain
// 1/√rectified_variance keep the variance through a rectifier and the layer after it.
constexpr double rectified_variance = 0.3408450569081047;

// Weights makes f32 tensors of pseudo-random values. `name` is the name of the tensor and `dims` its shape.
class Weights {
  public:
    explicit Weights(std::uint64_t seed) : seed_(seed) {}

    // Returns uniformly distributed values with this mean and standard deviation.
    [[nodiscard]] graph::Tensor uniform(std::string_view name, graph::Dims dims, double mean,
                                        double deviation) const;
    // Returns values with mean 0 and the standard deviation gain / √fan_in. `fan_in` is the number of
    // products that are summed. The second moment stays equal from layer to layer if `gain` is √2 after a
    // rectifier (He et al. 2015) and 1 otherwise (Glorot and Bengio 2010).
    [[nodiscard]] graph::Tensor scaled(std::string_view name, graph::Dims dims, std::int64_t fan_in,
                                       double gain) const;
    // Returns values like `scaled` and subtracts from every row (the weights of one output) its mean, so that
    // the mean that rectified inputs share does not grow from layer to layer. The number of weights in a row
    // is the fan-in.
    [[nodiscard]] graph::Tensor balanced(std::string_view name, graph::Dims dims, double gain) const;

  private:
    std::uint64_t seed_;
};

}  // namespace viridian::zoo
