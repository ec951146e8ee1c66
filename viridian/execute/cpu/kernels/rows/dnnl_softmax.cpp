// Softmax and LogSoftmax along one axis.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/window/dnnl_unary.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::softmax_v2_forward;
using graph::ElementType;

constexpr std::string_view dnnl_softmax_family_name = "dnnl:softmax";

template <class Visit>
void each_implementation(const Task& task, ElementType element, Visit visit) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.op.domain().empty() || task.region.inputs.size() != 1) return;
    if (node.op != graph::op::Softmax && node.op != graph::op::LogSoftmax) return;
    if (task.type(node.inputs[0]).element != ElementType::f32) return;
    const graph::Dims dims = task.dims(node.inputs[0]);
    const auto axis = graph::normalize_axis(node.integer("axis", -1), static_cast<std::int64_t>(dims.size()));
    if (!axis.ok() || dims.empty() || std::ranges::count(dims, 0) > 0) return;
    const auto kind =
        node.op == graph::op::Softmax ? dnnl::algorithm::softmax_accurate : dnnl::algorithm::softmax_log;
    std::vector<plan::Layout> layouts = {plan::plain(dims.size())};
    if (dims.size() > 2) layouts.push_back(plan::channels_last(dims.size()));
    for (const plan::Layout& layout : layouts) try {
            const auto md = descriptor(layout, dims, element);
            softmax_v2_forward::primitive_desc implementation(
                {dnnl::prop_kind::forward_inference, kind, md, md, static_cast<int>(*axis)},
                user_scratchpad(), task.context.engine);
            do
                if (visit(layout, implementation)) return;
            while (implementation.next_impl());
        } catch (const dnnl::error&) {
            continue;
        }
}

std::vector<plan::Choice> offers_dnnl_softmax(const Task& task) {
    if (task.region.inputs.empty()) return {};
    return offer_unary(task, dnnl_softmax_family_name,
                       [&](ElementType element, auto visit) { each_implementation(task, element, visit); });
}

Result<Kernel> prepare_dnnl_softmax(const Task& task, const plan::Choice& choice) {
    return prepare_unary<softmax_v2_forward>(
        task, dnnl_softmax_family_name, choice,
        [&](ElementType element, auto visit) { each_implementation(task, element, visit); });
}

}  // namespace

Family dnnl_softmax_family() { return {dnnl_softmax_family_name, offers_dnnl_softmax, prepare_dnnl_softmax}; }

}  // namespace viridian::execute::cpu
