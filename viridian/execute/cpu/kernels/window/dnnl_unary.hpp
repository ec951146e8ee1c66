#pragma once
// Offers and prepares primitives of oneDNN with one source and one result of equal layout and type (pools,
// softmax). each(element, visitor) calls its visitor with the layout and every implementation until it
// answers true.
#include <set>

#include "viridian/execute/cpu/kernels/dnnl.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {

// Returns the choices of `family` for a task, one for each layout and implementation that is worth
// offering.
template <class Each>
std::vector<plan::Choice> offer_unary(const Task& task, std::string_view family, Each each) {
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    for (const Precision& precision : storage_precisions(task.context))
        each(precision.source, [&](const plan::Layout& layout, const auto& implementation) {
            const std::string name = implementation.impl_info_str();
            if (!worth_offering(name)) return false;
            plan::Choice choice = task.plain_choice(fmt::format("{}:{}", family, name));
            choice.inputs[0] = choice.outputs[0] = {layout, precision.source, {}};
            choice.workspace = Bytes(static_cast<std::int64_t>(implementation.scratchpad_desc().get_size()));
            if (seen.insert(choice.key()).second) choices.push_back(std::move(choice));
            return false;
        });
    return choices;
}

// Prepares `choice`, which offer_unary() listed. Errors: unsupported (no implementation has that name and
// layout).
template <class Primitive, class Each>
Result<Kernel> prepare_unary(const Task& task, std::string_view family, const plan::Choice& choice,
                             Each each) {
    std::optional<Kernel> kernel;
    each(choice.inputs[0].element, [&](const plan::Layout& layout, const auto& implementation) {
        if (choice.kernel != fmt::format("{}:{}", family, implementation.impl_info_str()) ||
            choice.inputs[0].layout != layout)
            return false;
        kernel = primitive_kernel(task.context, Primitive(implementation),
                                  {{Argument::From::input, 0, DNNL_ARG_SRC, implementation.src_desc()},
                                   {Argument::From::output, 0, DNNL_ARG_DST, implementation.dst_desc()}},
                                  {}, implementation.scratchpad_desc());
        return true;
    });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace viridian::execute::cpu
