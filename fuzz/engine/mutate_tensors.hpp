#pragma once
// Changes of a model's tensors, types and sizes.
#include <onnx/onnx_pb.h>

#include "viridian/base/random.hpp"

namespace viridian::fuzz {

// Changes the values, the dimensions or the element type of `tensor`. The bytes stay as many as it declares,
// but for one time in ten.
void change_tensor(::onnx::TensorProto& tensor, Random& random);
// Does so with one of the initialisers.
void change_initializer(::onnx::GraphProto& graph, Random& random);
// Changes the declared type of an input or output.
void change_input_type(::onnx::GraphProto& graph, Random& random);
// Changes one size wherever inputs and initialisers have it, so that a valid model mostly stays valid.
void change_size_everywhere(::onnx::GraphProto& graph, Random& random);
// Makes an initialiser an input, or an input of known shape an initialiser.
void exchange_input_and_initializer(::onnx::GraphProto& graph, Random& random);

}  // namespace viridian::fuzz
