#pragma once
// add_dropout() adds the dropout of a network's training form. A network for inference has none, because
// exports leave it out.
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {

// Returns `x` after the dropout `name`: an ONNX Dropout in training mode, with the rate `published` or the
// one that the options give in its place. Returns `x` itself if `options` ask for no training form, or if the
// rate is 0.
[[nodiscard]] graph::ValueId add_dropout(graph::Graph& graph, const Options& options, graph::ValueId x,
                                         const std::string& name, double published);

}  // namespace viridian::zoo
