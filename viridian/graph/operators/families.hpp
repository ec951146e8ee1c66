#pragma once
// The family lists, one line each; `table.cpp` joins them.
#include <span>

#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

std::span<const OperatorRow> activation_operators();
std::span<const OperatorRow> arithmetic_operators();
std::span<const OperatorRow> convolution_operators();

}  // namespace viridian::graph
