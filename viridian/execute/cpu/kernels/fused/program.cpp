#include "viridian/execute/cpu/kernels/fused/program.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {
namespace {

// Pieces that are not rows have at most 1024 elements, and fewer if those that are kept at once would take
// more than 24 KiB of the L1 cache.
constexpr std::int64_t longest_piece = 1024, shortest_piece = 128;
constexpr std::int64_t most_kept = 6144;  // floats, of all pieces that are kept at once

bool is_whole(const ProgramPlace& place) { return place.element_bytes == float_bytes; }

// Returns whether a step after the one that makes output `i` of the region reads input `input`.
bool reads_after(const Program& program, std::size_t input, std::size_t i) {
    const auto is_input = [&](const ProgramPlace& place) {
        const ProgramPlace& from =
            place.in == ProgramPlace::In::spread ? program.broadcasts[place.index].from : place;
        return from.in == ProgramPlace::In::input && from.index == input;
    };
    bool made = false;
    for (const ProgramStep& step : program.steps) {
        if (made && std::ranges::any_of(step.from, [&](const auto& from) { return from && is_input(*from); }))
            return true;
        made = made || std::ranges::any_of(step.to, [&](const ProgramPlace& to) {
                   return to.in == ProgramPlace::In::output && to.index == i;
               });
    }
    return false;
}

// Returns whether output `i` is the new value of a state whose old value a later step still reads.
bool overwrites_early(const Task& task, const Program& program, std::size_t i) {
    return std::ranges::any_of(task.graph.states(), [&](const graph::State& state) {
        const auto before = task.input_index(state.before);
        return state.after == task.region.outputs[i] && before && reads_after(program, *before, i);
    });
}

}  // namespace

bool Program::reads_whole(std::size_t i) const {
    bool whole = false, other = false;
    const auto look = [&](const ProgramPlace& place) {
        if (place.in == ProgramPlace::In::input && place.index == i) (is_whole(place) ? whole : other) = true;
    };
    for (const ProgramStep& step : steps)
        for (const std::optional<ProgramPlace>& place : step.from)
            if (place) look(*place);
    for (const Broadcast& broadcast : broadcasts) look(broadcast.from);
    for (const auto& [number, input] : numbers.given) other = other || input == i;
    return whole && !other;
}

bool Program::writes_whole(std::size_t i) const {
    return std::ranges::any_of(steps, [&](const ProgramStep& step) {
        return std::ranges::any_of(step.to, [&](const ProgramPlace& place) {
            return place.in == ProgramPlace::In::output && place.index == i && is_whole(place);
        });
    });
}

bool Program::keeps_padding() const {
    std::set<std::size_t> zero;  // scratch that is zero there
    const auto is_zero = [&](const ProgramPlace& place) {
        return is_whole(place) || (place.in == ProgramPlace::In::scratch && zero.contains(place.index));
    };
    return std::ranges::all_of(steps, [&](const ProgramStep& step) {
        using Does = ProgramStep::Does;
        if (step.does != Does::element && step.does != Does::copy && step.does != Does::combine) return false;
        bool keeps = is_zero(*step.from[0]);
        if (step.does == Does::combine) keeps = keeps && is_zero(*step.from[1]);
        if (step.does == Does::element)
            keeps = keeps && keeps_zero(step.element, step.from.size() > 1 && is_zero(*step.from[1]));
        const ProgramPlace& to = step.to[0];
        if (to.in != ProgramPlace::In::scratch) return keeps;
        if (keeps)
            zero.insert(to.index);
        else
            zero.erase(to.index);
        return true;
    });
}

void Program::store(const Task& task, const plan::Choice& choice) {
    const bool last = choice.variant.streams || choice.aliasing == plan::Aliasing::overwrite;
    std::map<std::size_t, std::size_t> inputs, outputs;  // the scratch of each
    for (std::size_t i = 0; i < choice.inputs.size(); ++i)
        if (in_bf16(choice.inputs[i])) widened.emplace_back(i, inputs[i] = scratch++);
    for (std::size_t i = 0; i < choice.outputs.size(); ++i)
        if (in_bf16(choice.outputs[i]) || (writes_whole(i) && (last || overwrites_early(task, *this, i))))
            stored_last.emplace_back(i, outputs[i] = scratch++);
    const auto move = [&](ProgramPlace& place) {
        const bool input = place.in == ProgramPlace::In::input;
        if (!input && place.in != ProgramPlace::In::output) return;
        const auto& moved = input ? inputs : outputs;
        if (const auto found = moved.find(place.index); found != moved.end())
            place = {ProgramPlace::In::scratch, found->second};
    };
    for (ProgramStep& step : steps) {
        for (std::optional<ProgramPlace>& place : step.from)
            if (place) move(*place);
        std::ranges::for_each(step.to, move);
    }
    if (in_rows) return;
    const auto kept = static_cast<std::int64_t>(scratch + broadcasts.size());
    n = std::min(longest_piece, count);
    while (n > shortest_piece && n * kept > most_kept) n /= 2;
    // Pieces of one row find an operand that is a row where it lies.
    const bool row_major = !choice.outputs.empty() && choice.outputs[0].layout == plan::plain(dims.size());
    if (!broadcasts.empty() && row_major && !dims.empty() && dims.back() >= n / 2 && dims.back() <= n)
        n = dims.back();
}

}  // namespace viridian::execute::cpu
