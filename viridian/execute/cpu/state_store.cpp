#include "viridian/execute/cpu/state_store.hpp"

#include <algorithm>
#include <map>

namespace viridian::execute::cpu {
namespace {

plan::BufferId root_of(const plan::Plan& plan, plan::BufferId id) {
    while (plan.buffers[id].view_of) id = *plan.buffers[id].view_of;
    return id;
}

}  // namespace

void StateStore::prepare(const graph::Graph& graph, const plan::Plan& plan, graph::Graph* consumed) {
    std::vector<Kept*> all;
    states_.reserve(plan.states.size());
    for (const plan::PlanState& state : plan.states) {
        const plan::Buffer& buffer = plan.buffers[state.buffer];
        all.push_back(&states_.emplace_back(Kept{.name = graph.value(state.before).name,
                                                 .format = buffer.format,
                                                 .dims = buffer.dims,
                                                 .offset = buffer.arena_offset,
                                                 .bytes = buffer.bytes}));
    }
    allocate(all);
    for (std::size_t i = 0; i < states_.size(); ++i) {
        Kept& kept = states_[i];
        const plan::PlanState& state = plan.states[i];
        if (const graph::Tensor* first = graph.first_value(state.before)) {
            invariant(first->byte_count() == kept.bytes, "a first value fills the memory of its state");
            std::copy_n(first->bytes(), kept.bytes, kept.slot->memory.data());
            kept.slot->known = true;
            if (consumed != nullptr) consumed->set_first_value(state.before, graph::Tensor());
        }
        if (const graph::Tensor* constant = graph.constant(state.after)) {
            kept.every_run = *constant;
            copied_by_a_run_ += kept.bytes;
        }
    }
    for (const plan::Step& step : plan.steps)
        if (step.kind == plan::Step::Kind::conversion)
            if (const plan::Buffer& to = plan.buffers[root_of(plan, step.outputs[0])]; to.persistent)
                copied_by_a_run_ += to.bytes;
}

// The states lie side by side, so that huge pages hold many.
void StateStore::allocate(const std::vector<Kept*>& states) {
    const auto rounded = [](std::int64_t bytes) { return static_cast<std::size_t>(bytes + 63) / 64 * 64; };
    std::size_t size = 0;
    for (const Kept* kept : states) size += rounded(kept->bytes);
    const Buffer whole(size);
    std::size_t used = 0;
    for (Kept* kept : states) {
        kept->slot = std::make_shared<Slot>(Slot{Buffer(whole, used, static_cast<std::size_t>(kept->bytes))});
        used += rounded(kept->bytes);
    }
    own_bytes_ += size;
}

std::byte* StateStore::at(std::int64_t offset) const {
    const auto behind = std::ranges::upper_bound(states_, offset, {}, &Kept::offset);
    invariant(behind != states_.begin(), "a state lies at every offset into the memory of states");
    const Kept& kept = *std::prev(behind);
    return kept.slot->memory.data() + (offset - kept.offset);
}

Result<void> StateStore::check(std::size_t i) const {
    if (i < states_.size()) return {};
    return fail(ErrorCode::missing_entry, "ask for one of its states", "there is no state {}, there are {}",
                i, states_.size());
}

void StateStore::rest() {
    const std::scoped_lock lock(mutex_);
    for (Kept& kept : states_) kept.slot.reset();
    own_bytes_ = 0;
}

Result<void> StateStore::have_memory() {
    std::vector<Kept*> missing;
    for (Kept& kept : states_)
        if (kept.slot == nullptr) missing.push_back(&kept);
    try {
        if (!missing.empty()) allocate(missing);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "free memory, or use a smaller model",
                    "there is no memory for the states");
    }
    return {};
}

Result<void> StateStore::share(StateStore& owner) {
    if (&owner == this) return {};
    const std::scoped_lock lock(mutex_, owner.mutex_);
    std::map<std::string_view, const Kept*> theirs;
    for (const Kept& kept : owner.states_) theirs[kept.name] = &kept;
    std::vector<Kept*> own;  // that move together, so that what they leave can go
    std::vector<std::shared_ptr<Slot>> before;
    for (Kept& kept : states_) {
        const auto found = theirs.find(kept.name);
        if (found != theirs.end() && found->second->slot != nullptr && found->second->format == kept.format &&
            found->second->dims == kept.dims) {
            kept.slot = found->second->slot;
        } else if (kept.slot != nullptr) {
            own.push_back(&kept);
            before.push_back(kept.slot);
        }
    }
    own_bytes_ = 0;
    try {
        allocate(own);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "free memory, or use a smaller model",
                    "there is no memory for the states");
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
        std::copy_n(before[i]->memory.data(), own[i]->bytes, own[i]->slot->memory.data());
        own[i]->slot->known = before[i]->known;
    }
    return {};
}

Result<graph::Tensor> StateStore::get(std::size_t i) const {
    VIRIDIAN_TRY(check(i));
    const Kept& kept = states_[i];
    const std::scoped_lock lock(mutex_);
    if (kept.slot == nullptr || !kept.slot->known)
        return fail(ErrorCode::missing_entry, "give it one with set_state", "the state `{}` has no value yet",
                    kept.name);
    graph::Tensor value(kept.format.element, kept.dims);
    std::copy_n(kept.slot->memory.data(), kept.bytes, value.mutable_bytes());
    return value;
}

Result<void> StateStore::set(std::size_t i, const graph::Tensor& value) {
    VIRIDIAN_TRY(check(i));
    const Kept& kept = states_[i];
    if (value.type() != kept.format.element || value.dims() != kept.dims)
        return fail(ErrorCode::mismatch, "give a tensor of the state's type",
                    "the state `{}` is {}, given was {}", kept.name,
                    text(graph::TensorType{kept.format.element, graph::shape_of(kept.dims)}),
                    text(value.tensor_type()));
    const std::scoped_lock lock(mutex_);
    VIRIDIAN_TRY(have_memory());
    std::copy_n(value.bytes(), kept.bytes, kept.slot->memory.data());
    kept.slot->known = true;
    return {};
}

Result<StateMemory> StateStore::memory(std::size_t i) {
    VIRIDIAN_TRY(check(i));
    const std::scoped_lock lock(mutex_);
    VIRIDIAN_TRY(have_memory());
    const Kept& kept = states_[i];
    kept.slot->known = true;
    return StateMemory{kept.name, std::span(kept.slot->memory.data(), static_cast<std::size_t>(kept.bytes)),
                       kept.format, kept.dims};
}

Result<void> StateStore::hold(const std::function<Result<void>()>& run) {
    const std::scoped_lock lock(mutex_);
    for (const Kept& kept : states_)
        if (kept.slot == nullptr || !kept.slot->known)
            return fail(ErrorCode::missing_entry, "give it one with set_state",
                        "the state `{}` has no first value", kept.name);
    VIRIDIAN_TRY(run());
    for (const Kept& kept : states_)
        if (kept.every_run.type() != graph::ElementType::undefined)
            std::copy_n(kept.every_run.bytes(), kept.bytes, kept.slot->memory.data());
    copied_ += copied_by_a_run_;
    return {};
}

}  // namespace viridian::execute::cpu
