#pragma once
#include <vector>

#include "viridian/graph/tensor.hpp"

namespace viridian::gradient {

inline graph::Tensor doubles(const graph::Dims& dims, const std::vector<double>& values) {
    return graph::Tensor::of<double>(graph::ElementType::f64, dims, values);
}

}  // namespace viridian::gradient
