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

RunStates::~RunStates() {
    for (Slot* entry = first_.load(); entry != nullptr;) {
        const std::unique_ptr<Slot> goes(entry);
        entry = goes->next.load();
    }
}

RunStates::Slot* RunStates::idle() {
    for (Slot* entry = first_.load(std::memory_order_acquire); entry != nullptr;
         entry = entry->next.load(std::memory_order_acquire))
        if (!entry->busy.load(std::memory_order_relaxed) &&
            !entry->busy.exchange(true, std::memory_order_acquire))
            return entry;
    return nullptr;
}

RunStates::Slot* RunStates::add(std::unique_ptr<RunState> state) {
    auto entry = std::make_unique<Slot>();
    entry->state = std::move(state);
    std::atomic<Slot*>* link = &first_;
    for (Slot* found = nullptr; !link->compare_exchange_weak(found, entry.get(), std::memory_order_acq_rel);
         found = nullptr) {
        if (found == nullptr) continue;
        link = &found->next;
        ++entry->state->lane;
    }
    return entry.release();
}

std::size_t RunStates::bytes() const {
    std::size_t bytes = 0;
    for (const Slot* entry = first_.load(); entry != nullptr; entry = entry->next.load())
        bytes += entry->state->arena.size() + entry->state->workspace.size();
    return bytes;
}

}  // namespace viridian::execute::cpu
