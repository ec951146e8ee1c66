#pragma once
// A NamedTensor is a tensor with the name that it has in the user's model or in a checkpoint.
#include <string>

#include "viridian/graph/tensor.hpp"

namespace viridian::train {

struct NamedTensor {
    std::string name;
    graph::Tensor tensor;
};

}  // namespace viridian::train
