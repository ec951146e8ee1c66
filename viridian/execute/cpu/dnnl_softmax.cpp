// Softmax and LogSoftmax along one axis.
#include <set>

#include "viridian/execute/cpu/dnnl.hpp"
#include "viridian/execute/cpu/families.hpp"
#include "viridian/execute/cpu/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::softmax_v2_forward;
using graph::ElementType;

constexpr std::string_view family = "dnnl:softmax";

template <class Visit>
void each_implementation(const Task& task, ElementType element, Visit visit) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.domain.empty() || task.region.inputs.size() != 1) return;
    if (node.op != "Softmax" && node.op != "LogSoftmax") return;
    if (task.type(node.inputs[0]).element != ElementType::f32) return;
    const graph::Dims dims = task.dims(node.inputs[0]);
    const auto axis = graph::normalize_axis(node.integer("axis", -1), static_cast<std::int64_t>(dims.size()));
    if (!axis.ok() || dims.empty() || std::ranges::count(dims, 0) > 0) return;
    const auto kind = node.op == "Softmax" ? dnnl::algorithm::softmax_accurate : dnnl::algorithm::softmax_log;
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

std::vector<plan::Choice> offers(const Task& task) {
    if (task.region.inputs.empty()) return {};
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    for (const Precision& precision : storage_precisions(task.context))
        each_implementation(
            task, precision.source, [&](const plan::Layout& layout, const auto& implementation) {
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
    std::optional<Kernel> kernel;
    each_implementation(
        task, choice.inputs[0].element, [&](const plan::Layout& layout, const auto& implementation) {
            if (choice.kernel != fmt::format("{}:{}", family, implementation.impl_info_str()) ||
                choice.inputs[0].layout != layout)
                return false;
            kernel = primitive_kernel(task.context, softmax_v2_forward(implementation),
                                      {{Argument::From::input, 0, DNNL_ARG_SRC, implementation.src_desc()},
                                       {Argument::From::output, 0, DNNL_ARG_DST, implementation.dst_desc()}},
                                      {}, implementation.scratchpad_desc());
            return true;
        });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace

Family dnnl_softmax_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
