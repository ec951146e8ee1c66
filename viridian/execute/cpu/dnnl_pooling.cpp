// MaxPool, AveragePool and their global forms in every implementation and layout oneDNN offers.
#include <set>

#include "viridian/execute/cpu/dnnl.hpp"
#include "viridian/execute/cpu/families.hpp"
#include "viridian/execute/cpu/pooling.hpp"
#include "viridian/execute/cpu/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::algorithm;
using dnnl::pooling_v2_forward;
using graph::ElementType;

constexpr std::string_view family = "dnnl:pool";

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

std::vector<plan::Choice> offers(const Task& task) {
    const auto shape = pooling_shape(task);
    if (!shape || task.region.nodes.size() != 1 || task.region.inputs.empty()) return {};
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    for (const Precision& precision : storage_precisions(task.context))
        each_implementation(
            task, *shape, precision.source, [&](const plan::Layout& layout, const auto& implementation) {
                const std::string name = implementation.impl_info_str();
                if (!worth_offering(name)) return false;
                plan::Choice choice = task.plain_choice(fmt::format("{}:{}", family, name));
                choice.inputs[0] = choice.outputs[0] = {layout, precision.source, {}};
                choice.workspace =
                    Bytes(static_cast<std::int64_t>(implementation.scratchpad_desc().get_size()));
                if (seen.insert(choice.key()).second) choices.push_back(std::move(choice));
                return false;
            });
    return choices;
}

Result<Kernel> prepare(const Task& task, const plan::Choice& choice) {
    const auto shape = pooling_shape(task);
    if (!shape) return unknown_kernel(choice);
    std::optional<Kernel> kernel;
    each_implementation(
        task, *shape, choice.inputs[0].element, [&](const plan::Layout& layout, const auto& implementation) {
            if (choice.kernel != fmt::format("{}:{}", family, implementation.impl_info_str()) ||
                choice.inputs[0].layout != layout)
                return false;
            kernel = primitive_kernel(task.context, pooling_v2_forward(implementation),
                                      {{Argument::From::input, 0, DNNL_ARG_SRC, implementation.src_desc()},
                                       {Argument::From::output, 0, DNNL_ARG_DST, implementation.dst_desc()}},
                                      {}, implementation.scratchpad_desc());
            return true;
        });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace

Family dnnl_pooling_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
