#include "viridian/account/counter_steps.hpp"

#include <algorithm>

#include "viridian/meter/counter.hpp"

namespace viridian::account {
namespace {

constexpr double highest_watts = 20'000.0;  // of anything with one counter
constexpr Nanoseconds block = 100'000'000;  // shorter stretches' powers are too rough to judge by

struct Move {  // two readings that differ, none between them
    std::size_t from = 0, to = 0;
    double seconds = 0.0;
    std::int64_t change = 0;  // microjoules, as the counter says
    bool gap = false;
};

// What the device drew where its counter rose, over stretches of a tenth of a second or more.
struct Drawn {
    double least = 0.0, most = 0.0;  // watts; both 0: it never rose
};

Drawn drawn(const std::vector<Move>& moves) {
    Drawn out;
    bool any = false;
    double seconds = 0.0, joules = 0.0, all_seconds = 0.0, all_joules = 0.0;
    for (const Move& move : moves) {
        const double rise = 1e-6 * static_cast<double>(move.change);
        if (move.change < 0 || rise > highest_watts * std::max(move.seconds, 0.1)) {
            seconds = joules = 0.0;
            continue;
        }
        seconds += move.seconds;
        joules += rise;
        all_seconds += move.seconds;
        all_joules += rise;
        if (seconds < 1e-9 * static_cast<double>(block)) continue;
        const double watts = joules / seconds;
        out.least = any ? std::min(out.least, watts) : watts;
        out.most = std::max(out.most, watts);
        any = true;
        seconds = joules = 0.0;
    }
    if (!any && all_seconds > 0.0) out.least = out.most = all_joules / all_seconds;
    return out;
}

bool is_wrap(const Move& move, double wrapped_joules, const Drawn& power) {
    if (move.gap || power.most <= 0.0) return false;
    if (move.seconds < 1.0) return wrapped_joules <= 4.0 * power.most * std::max(move.seconds, 0.1);
    return wrapped_joules <= 2.0 * power.most * move.seconds &&
           wrapped_joules >= 0.5 * power.least * move.seconds;
}

std::vector<Move> moves_of(const meter::Series& series) {
    const auto& readings = series.readings;
    // Read faster than it moves, the counter's first value is of unknown age: begin at its first move.
    std::size_t first = 0, repeats = 0;
    for (std::size_t i = 1; i < readings.size(); ++i)
        repeats += readings[i].value == readings[i - 1].value ? 1 : 0;
    if (repeats * 5 > readings.size())
        while (first + 1 < readings.size() && readings[first].value == readings[0].value) ++first;
    // (Its only move is kept: better a step that begins too early than joules that are not counted.)
    if (first + 1 < readings.size() &&
        std::all_of(readings.begin() + static_cast<std::ptrdiff_t>(first), readings.end(),
                    [&](const meter::Reading& reading) { return reading.value == readings[first].value; }))
        first = 0;
    std::vector<Move> moves;
    for (std::size_t i = first + 1, last = first; i < readings.size(); ++i) {
        if (readings[i].value == readings[last].value) continue;
        moves.push_back({last, i, 1e-9 * static_cast<double>(readings[i].time_ns - readings[last].time_ns),
                         readings[i].value - readings[last].value, false});
        last = i;
    }
    return moves;
}

}  // namespace

Steps counter_steps(const meter::Series& series, Nanoseconds shift, Nanoseconds gap_polls) {
    Steps out;
    const auto& readings = series.readings;
    const std::int64_t wrap = series.channel.wrap_uj;
    std::vector<Move> moves = moves_of(series);
    for (const Move& move : moves)
        out.steps.push_back(
            {readings[move.from].time_ns - shift, readings[move.to].time_ns - shift, 0, false});
    out.period = median_length(out.steps);
    const Nanoseconds limit = std::max(gap_polls, 4 * out.period);
    for (std::size_t i = 0; i < moves.size(); ++i)
        moves[i].gap = out.steps[i].gap = out.steps[i].end - out.steps[i].begin > limit;

    const Drawn power = drawn(moves);
    std::int64_t corrections = 0;  // for the total, which comes from the first and last readings
    std::uint64_t doubtful = 0, aliased = 0;
    double missing = 0.0;  // joules, if unknown falls were wraps
    for (std::size_t i = 0; i < moves.size(); ++i) {
        const Move& move = moves[i];
        Step& step = out.steps[i];
        std::int64_t energy = move.change;
        if (move.change < 0) {
            const auto wrapped =
                meter::counter_difference(readings[move.from].value, readings[move.to].value, wrap);
            const bool went_round = wrapped && is_wrap(move, 1e-6 * static_cast<double>(*wrapped), power);
            energy = went_round ? *wrapped : 0;
            out.wraps += went_round ? 1 : 0;
            out.resets += went_round ? 0 : 1;
            if (!went_round && wrapped) missing += 1e-6 * static_cast<double>(*wrapped);
            step.gap = step.gap || !went_round;
        } else if (1e-6 * static_cast<double>(energy) > highest_watts * std::max(move.seconds, 0.1)) {
            ++out.resets;
            energy = 0;
            step.gap = true;
        } else if (wrap > 0 && move.gap && power.most * move.seconds > 1e-6 * static_cast<double>(wrap)) {
            ++doubtful;
        }
        if (wrap > 0 && !step.gap && 2 * energy > wrap) {
            step.gap = true;
            ++aliased;
        }
        corrections += energy - move.change;
        step.energy = exact_microjoules(energy);
    }
    if (!moves.empty())
        out.total =
            exact_microjoules(readings.back().value - readings[moves.front().from].value + corrections);
    if (out.resets > 0)
        out.warnings.push_back(fmt::format(
            "the counter was reset {} times, or fell while it was not read; its energy meanwhile is unknown "
            "and "
            "not counted{}",
            out.resets, missing > 0 ? fmt::format(" (up to {:.4g} J if it only went round)", missing) : ""));
    if (doubtful > 0)
        out.warnings.push_back(fmt::format(
            "{} gaps are long enough for the counter to have gone round unseen: the total is a lower bound",
            doubtful));
    if (aliased > 0)
        out.warnings.push_back(fmt::format(
            "between {} pairs of readings the counter moved by more than half its range: it may have gone "
            "round more than once; their energy is a lower bound and unattributed",
            aliased));
    return out;
}

}  // namespace viridian::account
