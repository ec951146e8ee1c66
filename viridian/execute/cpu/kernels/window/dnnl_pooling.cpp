// MaxPool, AveragePool and their global forms in every implementation and layout oneDNN offers.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/window/dnnl_unary.hpp"
#include "viridian/execute/cpu/kernels/window/pooling.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::algorithm;
using dnnl::pooling_v2_forward;
using graph::ElementType;

constexpr std::string_view dnnl_pooling_family_name = "dnnl:pool";

std::vector<plan::Layout> layouts(std::size_t rank) {
    return {plan::channels_blocked(rank, 16), plan::channels_blocked(rank, 8), plan::channels_last(rank),
            plan::plain(rank)};
}

template <class Visit>
void each_implementation(const Task& task, const PoolingShape& shape, ElementType element, Visit visit) {
    const auto kind = shape.maximum         ? algorithm::pooling_max
                      : shape.count_padding ? algorithm::pooling_avg_include_padding
                                            : algorithm::pooling_avg_exclude_padding;
    graph::Dims dilations = shape.dilations;
    for (auto& dilation : dilations) --dilation;
    for (const plan::Layout& layout : layouts(shape.source.size())) try {
            const pooling_v2_forward::desc description(
                dnnl::prop_kind::forward_inference, kind, descriptor(layout, shape.source, element),
                descriptor(layout, shape.result, element), shape.strides, shape.kernel, dilations,
                shape.pads_begin, shape.pads_end);
            pooling_v2_forward::primitive_desc implementation(description, user_scratchpad(),
                                                              task.context.engine);
            do
                if (visit(layout, implementation)) return;
            while (implementation.next_impl());
        } catch (const dnnl::error&) {
            continue;  // not offered in this layout
        }
}

std::vector<plan::Choice> offers_dnnl_pooling(const Task& task) {
    const auto shape = pooling_shape(task);
    if (!shape || task.region.nodes.size() != 1 || task.region.inputs.empty()) return {};
    return offer_unary(task, dnnl_pooling_family_name, [&](ElementType element, auto visit) {
        each_implementation(task, *shape, element, visit);
    });
}

Result<Kernel> prepare_dnnl_pooling(const Task& task, const plan::Choice& choice) {
    const auto shape = pooling_shape(task);
    if (!shape) return unknown_kernel(choice);
    return prepare_unary<pooling_v2_forward>(
        task, dnnl_pooling_family_name, choice,
        [&](ElementType element, auto visit) { each_implementation(task, *shape, element, visit); });
}

}  // namespace

Family dnnl_pooling_family() { return {dnnl_pooling_family_name, offers_dnnl_pooling, prepare_dnnl_pooling}; }

}  // namespace viridian::execute::cpu
