#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

Inference::Inference(const Node& node, std::vector<TensorType> inputs, std::vector<const Tensor*> constants)
    : node_(node),
      inputs_(std::move(inputs)),
      constants_(std::move(constants)),
      outputs_(node.outputs.size()) {}

bool Inference::has_input(std::size_t i) const { return node_.input(i) != ValueId::none; }

void Inference::set(std::size_t output, ElementType element, std::optional<Shape> shape) {
    if (output < outputs_.size()) outputs_[output] = {element, std::move(shape)};
}

}  // namespace viridian::graph
