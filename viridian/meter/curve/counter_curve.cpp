#include "viridian/meter/curve/counter_curve.hpp"

#include <algorithm>

#include "viridian/meter/curve/interval_energy.hpp"
#include "viridian/meter/curve/renewal.hpp"

namespace viridian::meter {
namespace {

struct Move {  // two readings that differ, none between them
    std::size_t from = 0, to = 0;
    Nanoseconds begin = 0, end = 0;  // when the counter was renewed
    std::int64_t change = 0;         // microjoules, as the counter says

    [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
};

// Sets when the counter was renewed. If it was read much more often than it moved, each new value was seen
// late, and the readings before and after say by how much at most.
void find_renewals(const std::vector<Reading>& readings, std::vector<Move>& moves) {
    for (Move& move : moves) move.begin = readings[move.from].time_ns, move.end = readings[move.to].time_ns;
    if (moves.empty() || 2 * moves.size() > readings.size()) return;
    std::vector<Bracket> brackets;
    const auto add = [&](std::size_t reading) {
        brackets.push_back({readings[reading == 0 ? 0 : reading - 1].time_ns, readings[reading].time_ns});
    };
    add(moves.front().from);
    for (const Move& move : moves) add(move.to);
    const std::vector<Nanoseconds> times = renewal_times(brackets).times;
    for (std::size_t i = 0; i < moves.size(); ++i) {
        moves[i].begin = i == 0 ? times[0] : moves[i - 1].end;
        moves[i].end = std::max(times[i + 1], moves[i].begin + 1);
    }
}

std::vector<Move> moves_of(const Series& series) {
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
                    [&](const Reading& reading) { return reading.value == readings[first].value; }))
        first = 0;
    std::vector<Move> moves;
    for (std::size_t i = first + 1, last = first; i < readings.size(); ++i) {
        if (readings[i].value == readings[last].value) continue;
        moves.push_back({last, i, 0, 0, readings[i].value - readings[last].value});
        last = i;
    }
    find_renewals(readings, moves);
    return moves;
}

// How many pairs of readings are doubtful, and why.
struct CounterDoubts {
    std::uint64_t unseen = 0, aliased = 0;
    double missing = 0.0;  // joules, if the falls that count as resets were wraps

    void add(const CounterInterval& interval, std::optional<std::int64_t> if_wrapped) {
        unseen += interval.doubt == Doubt::unseen_wrap ? 1 : 0;
        aliased += interval.doubt == Doubt::aliased ? 1 : 0;
        if (interval.doubt == Doubt::reset && if_wrapped) missing += 1e-6 * static_cast<double>(*if_wrapped);
    }
    void warn(PowerCurve& out) const {
        if (out.resets > 0)
            out.warnings.push_back(fmt::format(
                "the counter was reset {} times, or fell while it was not read; its energy meanwhile is "
                "unknown and not counted{}",
                out.resets,
                missing > 0 ? fmt::format(" (up to {:.4g} J if it only went round)", missing) : ""));
        if (unseen > 0)
            out.warnings.push_back(
                fmt::format("{} gaps are long enough for the counter to have gone round unseen: the total is "
                            "a lower bound",
                            unseen));
        if (aliased > 0)
            out.warnings.push_back(fmt::format(
                "between {} pairs of readings the counter moved by more than half its range: it may have "
                "gone round more than once; their energy is a lower bound and unattributed",
                aliased));
    }
};

}  // namespace

PowerCurve counter_curve(const Series& series, Nanoseconds shift, Nanoseconds longest) {
    PowerCurve out;
    const auto& readings = series.readings;
    const std::vector<Move> moves = moves_of(series);
    DrawnPower drawn;
    for (const Move& move : moves) {
        out.segments.push_back({move.begin - shift, move.end - shift, 0, false});
        drawn.add(move.seconds(), 1e-6 * static_cast<double>(move.change));
    }
    out.period = median_length(out.segments);
    const Nanoseconds limit = std::max(longest, 4 * out.period);
    std::int64_t corrections = 0;  // for the total, which comes from the first and last readings
    CounterDoubts doubts;
    for (std::size_t i = 0; i < moves.size(); ++i) {
        const std::int64_t before = readings[moves[i].from].value, after = readings[moves[i].to].value;
        PowerSegment& segment = out.segments[i];
        const bool silent = segment.end - segment.begin > limit;
        const CounterInterval interval =
            counter_interval(series.channel, before, after, moves[i].seconds(), silent, drawn.best_known());
        const bool fell = after < before;
        doubts.add(interval, fell ? counter_difference(before, after, series.channel.wrap_uj) : std::nullopt);
        out.wraps += interval.wrapped ? 1 : 0;
        out.resets += interval.doubt == Doubt::reset ? 1 : 0;
        segment.gap = silent || interval.doubt == Doubt::reset || interval.doubt == Doubt::aliased;
        segment.energy = exact_microjoules(interval.microjoules);
        corrections += interval.microjoules - moves[i].change;
    }
    if (!moves.empty())
        out.total =
            exact_microjoules(readings.back().value - readings[moves.front().from].value + corrections);
    doubts.warn(out);
    return out;
}

}  // namespace viridian::meter
