#include "viridian/execute/cpu/run_state.hpp"

namespace viridian::execute::cpu {

RunState::RunState(const std::vector<StepLayout>& layouts, std::size_t arena_bytes,
                   std::size_t workspace_bytes, const StateStore& states)
    : arena(arena_bytes), workspace(workspace_bytes) {
    const auto address = [&](const Place& place) -> std::byte* {
        if (place.in == Place::In::outside) return nullptr;
        return place.in == Place::In::states ? states.at(place.offset) : arena.data() + place.offset;
    };
    for (const StepLayout& layout : layouts) {
        BoundStep& step = steps.emplace_back(BoundStep{layout.kernel, {}, {}, {}, {}, {}});
        for (const Place& place : layout.inputs) step.inputs.push_back(address(place));
        for (const Place& place : layout.outputs) step.outputs.push_back(address(place));
        step.point(workspace.data());
        if (!layout.moves()) step.bind();
    }
}

}  // namespace viridian::execute::cpu
