#include "viridian/execute/cpu/run_state.hpp"

namespace viridian::execute::cpu {

RunState::RunState(const std::vector<StepLayout>& layouts, std::size_t arena_bytes,
                   std::size_t workspace_bytes)
    : arena(arena_bytes), workspace(workspace_bytes) {
    const auto place = [&](std::int64_t offset) {
        return offset == StepLayout::outside ? nullptr : arena.data() + offset;
    };
    for (const StepLayout& layout : layouts) {
        BoundStep& step = steps.emplace_back(BoundStep{layout.kernel, {}, {}, {}, {}, {}});
        for (const std::int64_t offset : layout.inputs) step.inputs.push_back(place(offset));
        for (const std::int64_t offset : layout.outputs) step.outputs.push_back(place(offset));
        step.point(workspace.data());
        if (!layout.moves()) step.bind();
    }
}

}  // namespace viridian::execute::cpu
