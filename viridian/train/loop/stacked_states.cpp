#include "viridian/train/loop/stacked_states.hpp"

#include <algorithm>

namespace viridian::train {

using gradient::StackedPart;
using gradient::StackedState;

const StackedState* StackedStates::find(std::string_view state) const {
    const auto found = std::ranges::find(all_, state, &StackedState::name);
    return found == all_.end() ? nullptr : &*found;
}

std::vector<std::string> StackedStates::holders(std::span<const std::string> names) const {
    std::vector<std::string> states;
    for (const std::string& name : names) {
        const auto stacked = std::ranges::find_if(all_, [&](const StackedState& state) {
            return std::ranges::find(state.parts, name, &StackedPart::name) != state.parts.end();
        });
        const std::string& state = stacked == all_.end() ? name : stacked->name;
        if (std::ranges::find(states, state) == states.end()) states.push_back(state);
    }
    return states;
}

std::vector<NamedTensor> StackedStates::parted(std::vector<NamedTensor> states) const {
    if (all_.empty()) return states;
    std::vector<NamedTensor> parts;
    for (NamedTensor& state : states) {
        const StackedState* stacked = find(state.name);
        if (stacked == nullptr) {
            parts.push_back(std::move(state));
            continue;
        }
        std::vector<graph::Tensor> tensors = gradient::parted(*stacked, state.tensor);
        for (std::size_t i = 0; i < tensors.size(); ++i)
            parts.push_back({stacked->parts[i].name, std::move(tensors[i])});
    }
    return parts;
}

std::vector<NamedTensor> StackedStates::parts(std::vector<NamedTensor> states,
                                              std::span<const std::string> names) const {
    if (all_.empty()) return states;
    Tensors tensors;
    for (NamedTensor& part : parted(std::move(states))) tensors[part.name] = std::move(part.tensor);
    std::vector<NamedTensor> asked;
    for (const std::string& name : names) asked.push_back({name, tensors.at(name)});
    return asked;
}

Result<Tensors> StackedStates::joined(Tensors tensors) const {
    for (const StackedState& state : all_) {
        const auto axis = static_cast<std::size_t>(state.axis);
        std::vector<graph::Tensor> parts;
        for (const StackedPart& part : state.parts) {
            const auto found = tensors.find(part.name);
            if (found == tensors.end()) continue;
            const graph::Tensor& tensor = parts.emplace_back(found->second);
            graph::Dims wanted = parts[0].dims();
            if (axis < wanted.size()) wanted[axis] = part.extent;
            if (axis >= wanted.size() || tensor.dims() != wanted || tensor.type() != parts[0].type())
                return fail(ErrorCode::mismatch, "resume with the model of the run that wrote it",
                            "the state `{}` of the checkpoint is {}, which does not fit the model", part.name,
                            text(tensor.tensor_type()));
        }
        if (parts.size() == state.parts.size()) tensors[state.name] = gradient::joined(parts, state.axis);
    }
    return tensors;
}

}  // namespace viridian::train
