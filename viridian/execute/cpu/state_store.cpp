#include "viridian/execute/cpu/state_store.hpp"

#include <algorithm>

namespace viridian::execute::cpu {
namespace {

plan::BufferId root_of(const plan::Plan& plan, plan::BufferId id) {
    while (plan.buffers[id].view_of) id = *plan.buffers[id].view_of;
    return id;
}

}  // namespace

void StateStore::prepare(const graph::Graph& graph, const plan::Plan& plan) {
    bytes_ = static_cast<std::size_t>(plan.state_bytes);
    if (bytes_ > 0) memory_ = Buffer(bytes_);
    for (const plan::PlanState& state : plan.states) {
        const plan::Buffer& buffer = plan.buffers[state.buffer];
        Kept& kept = states_.emplace_back(Kept{.name = graph.value(state.before).name,
                                               .format = buffer.format,
                                               .dims = buffer.dims,
                                               .offset = buffer.arena_offset,
                                               .bytes = buffer.bytes});
        if (const graph::Tensor* first = graph.first_value(state.before)) {
            invariant(first->byte_count() == kept.bytes, "a first value fills the memory of its state");
            std::copy_n(first->bytes(), kept.bytes, memory_.data() + kept.offset);
            kept.known = true;
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

Result<void> StateStore::check(std::size_t i) const {
    if (i < states_.size()) return {};
    return fail(ErrorCode::missing_entry, "ask for one of its states", "there is no state {}, there are {}",
                i, states_.size());
}

void StateStore::rest() {
    const std::scoped_lock lock(mutex_);
    memory_ = Buffer();
    for (Kept& kept : states_) kept.known = false;
}

Result<void> StateStore::have_memory() {
    if (memory_.size() == bytes_) return {};
    try {
        memory_ = Buffer(bytes_);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "free memory, or use a smaller model",
                    "there is no memory for states of {} MiB", bytes_ >> 20);
    }
    return {};
}

Result<graph::Tensor> StateStore::get(std::size_t i) const {
    VIRIDIAN_TRY(check(i));
    const Kept& kept = states_[i];
    const std::scoped_lock lock(mutex_);
    if (!kept.known)
        return fail(ErrorCode::missing_entry, "give it one with set_state", "the state `{}` has no value yet",
                    kept.name);
    graph::Tensor value(kept.format.element, kept.dims);
    std::copy_n(memory_.data() + kept.offset, kept.bytes, value.mutable_bytes());
    return value;
}

Result<void> StateStore::set(std::size_t i, const graph::Tensor& value) {
    VIRIDIAN_TRY(check(i));
    Kept& kept = states_[i];
    if (value.type() != kept.format.element || value.dims() != kept.dims)
        return fail(ErrorCode::mismatch, "give a tensor of the state's type",
                    "the state `{}` is {}, given was {}", kept.name,
                    text(graph::TensorType{kept.format.element, graph::shape_of(kept.dims)}),
                    text(value.tensor_type()));
    const std::scoped_lock lock(mutex_);
    VIRIDIAN_TRY(have_memory());
    std::copy_n(value.bytes(), kept.bytes, memory_.data() + kept.offset);
    kept.known = true;
    return {};
}

Result<StateMemory> StateStore::memory(std::size_t i) {
    VIRIDIAN_TRY(check(i));
    const std::scoped_lock lock(mutex_);
    VIRIDIAN_TRY(have_memory());
    Kept& kept = states_[i];
    kept.known = true;
    return StateMemory{kept.name,
                       std::span(memory_.data() + kept.offset, static_cast<std::size_t>(kept.bytes)),
                       kept.format, kept.dims};
}

Result<void> StateStore::hold(const std::function<Result<void>()>& run) {
    const std::scoped_lock lock(mutex_);
    for (const Kept& kept : states_)
        if (!kept.known)
            return fail(ErrorCode::missing_entry, "give it one with set_state",
                        "the state `{}` has no first value", kept.name);
    VIRIDIAN_TRY(run());
    for (const Kept& kept : states_)
        if (kept.every_run.type() != graph::ElementType::undefined)
            std::copy_n(kept.every_run.bytes(), kept.bytes, memory_.data() + kept.offset);
    copied_ += copied_by_a_run_;
    return {};
}

}  // namespace viridian::execute::cpu
