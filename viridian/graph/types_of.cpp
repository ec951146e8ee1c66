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

bool may_agree(const TensorType& a, const TensorType& b) {
    if (a.element == ElementType::undefined || b.element == ElementType::undefined) return true;
    if (a.element != b.element) return false;
    if (!a.shape || !b.shape) return true;
    if (a.shape->size() != b.shape->size()) return false;
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
        const Dimension& x = (*a.shape)[i];
        const Dimension& y = (*b.shape)[i];
        if (x.known() && y.known() && x.value() != y.value()) return false;
    }
    return true;
}

}  // namespace viridian::graph
