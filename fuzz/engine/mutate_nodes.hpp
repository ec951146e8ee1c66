#pragma once
// Changes of a model's nodes and their connections.
#include <onnx/onnx_pb.h>

#include "fuzz/engine/hostile.hpp"

namespace viridian::fuzz {

// Gives an attribute of a node another value, adds one, or removes one.
void change_attribute(::onnx::GraphProto& graph, Random& random);
// Takes an input of a node from another value, exchanges two, adds one, or leaves one out.
void rewire(::onnx::GraphProto& graph, Random& random);
// Removes a node; mostly its readers then read what it read.
void drop_node(::onnx::GraphProto& graph, Random& random);
// Adds a copy of a node beside it, which reads the same values.
void duplicate_node(::onnx::GraphProto& graph, Random& random);
// Makes any value an output, or no longer one.
void change_outputs(::onnx::GraphProto& graph, Random& random);
// Gives a node another operator, mostly of as many inputs.
void swap_operator(::onnx::GraphProto& graph, Random& random);
// Puts one to three nodes of one input behind a value, so that there are chains for kernels to fuse.
void append_chain(::onnx::GraphProto& graph, Random& random);
// Adds everything of `other`, with new names, and feeds one of its inputs from a value of `graph`.
void graft(::onnx::GraphProto& graph, ::onnx::GraphProto& other, Random& random);

}  // namespace viridian::fuzz
