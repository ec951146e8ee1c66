#include "viridian/profile/weights.hpp"

#include <algorithm>

#include "viridian/base/system/machine.hpp"

namespace viridian::profile {

using graph::ElementType;
using graph::Tensor;

namespace {

std::int64_t half_of_last_cache() {
    static const std::int64_t half = this_machine().l3.value / 2;
    return half;
}

Bytes beyond_cache(std::int64_t moved) {
    return Bytes(std::max<std::int64_t>(0, moved - half_of_last_cache()));
}

}  // namespace

bool weights_stay_cached(const graph::Graph& network) {
    Bytes weights;
    for (std::size_t i = 0; i < network.value_count(); ++i)
        if (const Tensor* constant = network.constant(static_cast<graph::ValueId>(i)))
            weights += Bytes(constant->byte_count());
    return weights.value <= half_of_last_cache();
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

Bytes activation_traffic(const graph::Graph& graph, const plan::Region& region, const plan::Choice& choice) {
    std::int64_t moved = 0;
    const auto add = [&](const std::vector<graph::ValueId>& values,
                         const std::vector<plan::Format>& formats) {
        for (std::size_t i = 0; i < values.size() && i < formats.size(); ++i)
            if (const graph::TensorType& type = graph.value(values[i]).type; type.known())
                moved += plan::buffer_bytes(formats[i], type.dims());
    };
    add(region.inputs, choice.inputs);
    add(region.outputs, choice.outputs);
    return beyond_cache(moved);
}

Bytes activation_traffic(const graph::Dims& dims, const plan::Format& from, const plan::Format& to) {
    return beyond_cache(plan::buffer_bytes(from, dims) + plan::buffer_bytes(to, dims));
}

Bytes memory_traffic(const graph::Graph& graph, const plan::Plan& plan) {
    const bool cached = weights_stay_cached(graph);
    Bytes sum;
    for (const plan::AssignedRegion& assigned : plan.assignment.regions) {
        if (assigned.choice.aliasing == plan::Aliasing::view ||
            assigned.choice.aliasing == plan::Aliasing::gather)
            continue;
        sum += activation_traffic(graph, assigned.region, assigned.choice);
        if (!cached) sum += weight_bytes(graph, assigned.region, assigned.choice);
    }
    for (const plan::Conversion& conversion : plan.assignment.conversions)
        if (const graph::TensorType& type = graph.value(conversion.value).type; type.known())
            sum += activation_traffic(type.dims(), conversion.from, conversion.to);
    return sum;
}

}  // namespace viridian::profile
