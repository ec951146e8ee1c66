#include "viridian/profile/weights.hpp"

#include <algorithm>

#include "viridian/base/system/machine.hpp"

namespace viridian::profile {

using graph::ElementType;
using graph::Tensor;

bool weights_stay_cached(const graph::Graph& network) {
    Bytes weights;
    for (std::size_t i = 0; i < network.value_count(); ++i)
        if (const Tensor* constant = network.constant(static_cast<graph::ValueId>(i)))
            weights += Bytes(constant->byte_count());
    return weights.value <= this_machine().l3.value / 2;
}

Bytes weight_bytes(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice) {
    const bool in_bf16 = std::ranges::any_of(
        choice.inputs, [](const plan::Format& format) { return format.element == ElementType::bf16; });
    Bytes sum;
    for (const graph::ValueId id : region.constants) {
        const Tensor* constant = graph.constant(id);
        if (constant == nullptr) continue;
        const bool packed = in_bf16 && constant->type() == ElementType::f32 && constant->rank() > 1;
        sum += Bytes(packed ? constant->byte_count() / 2 : constant->byte_count());
    }
    return sum;
}

Bytes weight_traffic(const graph::Graph& graph, const plan::Plan& plan) {
    Bytes sum;
    if (weights_stay_cached(graph)) return sum;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions)
        sum += weight_bytes(graph, assigned.region, assigned.choice);
    return sum;
}

}  // namespace viridian::profile
