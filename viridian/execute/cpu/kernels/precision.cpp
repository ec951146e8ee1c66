#include "viridian/execute/cpu/kernels/precision.hpp"

#include <algorithm>

#include "viridian/plan/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using plan::Choice;
using plan::Format;

// Eight channels in bf16 are 16 bytes: no kernel wants them.
bool usual(const Format& format) {
    return std::ranges::none_of(format.layout.blocks, [](const auto& block) { return block.size != 16; });
}

bool usual(const Choice& choice) {
    return std::ranges::all_of(choice.inputs, [](const Format& f) { return usual(f); }) &&
           std::ranges::all_of(choice.outputs, [](const Format& f) { return usual(f); });
}

void narrow(Format& format) {
    if (format.element == ElementType::f32) format.element = ElementType::bf16;
}

}  // namespace

std::vector<Precision> contraction_precisions(const Context& context) {
    if (!context.multiplies_bf16()) return {{}};
    return {{}, {ElementType::bf16, ElementType::bf16}, {ElementType::bf16, ElementType::f32}};
}

std::vector<Precision> storage_precisions(const Context& context) {
    if (!context.multiplies_bf16()) return {{}};
    return {{}, {ElementType::bf16, ElementType::bf16}};
}

void offer_widened(const Task& task, const std::function<bool(std::size_t)>& reads,
                   std::vector<Choice>& choices, const std::function<bool(std::size_t)>& writes) {
    if (!task.context.allowances.bf16) return;
    const std::size_t exact = choices.size();
    for (const Precision& precision :
         {Precision{ElementType::bf16, ElementType::bf16}, Precision{ElementType::bf16, ElementType::f32},
          Precision{ElementType::f32, ElementType::bf16}})
        for (std::size_t c = 0; c < exact; ++c) {
            Choice choice = choices[c];
            if (!usual(choice)) continue;
            if (precision.source != precision.result && choice.aliasing == plan::Aliasing::overwrite)
                continue;
            if (precision.source == ElementType::bf16)
                for (std::size_t i = 0; i < choice.inputs.size(); ++i)
                    if (reads(i)) narrow(choice.inputs[i]);
            if (precision.result == ElementType::bf16)
                for (std::size_t i = 0; i < choice.outputs.size(); ++i)
                    if (writes(i)) narrow(choice.outputs[i]);
            if (choice.aliasing == plan::Aliasing::overwrite &&
                choice.inputs[choice.overwritten].element != choice.outputs[0].element)
                continue;
            if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(std::move(choice));
        }
}

void offer_moved(const Task& task, std::vector<Choice>& choices) {
    if (!task.context.allowances.bf16) return;
    const std::size_t exact = choices.size();
    for (std::size_t c = 0; c < exact; ++c) {
        Choice choice = choices[c];
        if (!usual(choice)) continue;
        for (Format& format : choice.inputs) narrow(format);
        for (Format& format : choice.outputs) narrow(format);
        if (choice != choices[c]) choices.push_back(std::move(choice));
    }
}

void keep_safe(const Task& task, std::vector<Choice>& choices) {
    std::erase_if(choices, [&](const Choice& choice) {
        return plan::rounds_at(task.graph, task.region, choice, [&](graph::NodeId id) {
            return plan::bf16_safety(task.graph.node(id)) == plan::Safety::deny;
        });
    });
}

bool in_bf16(const Format& format) { return format.element == ElementType::bf16; }

bool in_bf16(const Choice& choice) {
    return std::ranges::any_of(choice.inputs, [](const Format& f) { return in_bf16(f); }) ||
           std::ranges::any_of(choice.outputs, [](const Format& f) { return in_bf16(f); });
}

}  // namespace viridian::execute::cpu
