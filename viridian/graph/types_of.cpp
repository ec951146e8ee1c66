#include "viridian/graph/types_of.hpp"

#include <algorithm>

namespace viridian::graph {

std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> ids) {
    std::vector<TensorType> types;
    for (const ValueId id : ids) types.push_back(id == ValueId::none ? TensorType() : graph.value(id).type);
    return types;
}

bool all_known(std::span<const TensorType> types) {
    return std::ranges::all_of(
        types, [](const TensorType& type) { return type.element == ElementType::undefined || type.known(); });
}

}  // namespace viridian::graph
