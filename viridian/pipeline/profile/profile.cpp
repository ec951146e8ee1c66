#include "viridian/pipeline/profile/profile.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::pipeline {
namespace {

constexpr double longest_seconds = 1e6;  // one unit; keeps sums of 2^25 units inside 64-bit nanoseconds
constexpr double most_joules = 1e9;

std::string mhz(Hertz clock) { return fmt::format("{:g} MHz", clock.value / 1e6); }

Result<void> check_points(const std::vector<Point>& points, int stage, Kind kind) {
    const auto where = [&](const Point& point) {
        return fmt::format("stage {}, {}, {}", stage, name_of(kind), mhz(point.clock));
    };
    for (const Point& p : points) {
        if (!(p.clock.value > 0) || !std::isfinite(p.clock.value))
            return fail(ErrorCode::malformed, "give the clock in MHz, above 0",
                        "{}: the frequency is not positive", where(p));
        if (!(p.time.value > 0) || !(p.time.value <= longest_seconds))
            return fail(ErrorCode::malformed, "give the time in seconds, above 0 and at most a million",
                        "{}: the time {} s is not a usable duration", where(p), p.time.value);
        if (!(p.energy.value > 0) || !(p.energy.value <= most_joules))
            return fail(ErrorCode::malformed, "give the energy in joules, above 0",
                        "{}: the energy {} J is not usable", where(p), p.energy.value);
        if (p.time.value * 1e9 < 0.5)
            return fail(ErrorCode::malformed, "times are in seconds; the planner counts nanoseconds",
                        "{}: the time {} s is below one nanosecond", where(p), p.time.value);
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (points[i].clock == points[i - 1].clock)
            return fail(ErrorCode::malformed, "keep one row per clock (for example the mean)",
                        "{} appears twice", where(points[i]));
        if (points[i].time > points[i - 1].time)
            return fail(ErrorCode::malformed, "measure it again, or delete the row",
                        "{}: takes {} s, longer than the {} s at the lower clock {}", where(points[i]),
                        points[i].time.value, points[i - 1].time.value, mhz(points[i - 1].clock));
    }
    return {};
}

}  // namespace

Result<void> check_and_sort(Profile& profile) {
    if (profile.stages.empty())
        return fail(ErrorCode::missing_entry, "add rows `stage,instruction,frequency,time,energy`",
                    "the profile has no stage");
    for (int s = 0; s < profile.size(); ++s) {
        StageProfile& stage = profile.stages[static_cast<std::size_t>(s)];
        for (const Kind kind : profiled_kinds) {
            auto& points = stage.of(kind);
            if (points.empty() && kind != Kind::weight)
                return fail(ErrorCode::missing_entry, "every stage from 0 on needs forward and backward rows",
                            "stage {} has no {} rows", s, name_of(kind));
            std::sort(points.begin(), points.end(),
                      [](const Point& a, const Point& b) { return a.clock < b.clock; });
            VIRIDIAN_TRY(check_points(points, s, kind));
        }
        if (stage.of(Kind::weight).empty() != profile.stages[0].of(Kind::weight).empty())
            return fail(ErrorCode::missing_entry, "give weight rows for every stage, or for none",
                        "stage {} and stage 0 differ in having weight rows", s);
        if (!(stage.wait.value >= 0) || !std::isfinite(stage.wait.value))
            return fail(ErrorCode::malformed, "give watts, 0 or more",
                        "stage {}: the waiting power {} W is not usable", s, stage.wait.value);
        if (stage.activation.value < 0 || stage.weights.value < 0 || stage.memory.value < 0 ||
            stage.weight_stash.value < 0 || stage.weight_stash.value > stage.activation.value)
            return fail(ErrorCode::malformed, "give bytes, 0 or more; the stash is part of the activation",
                        "stage {}: a memory size is negative or inconsistent", s);
    }
    const auto usable = [](Seconds t) { return t.value >= 0 && t.value <= longest_seconds; };
    if (!profile.transfer.empty() && profile.transfer.size() + 1 != profile.stages.size())
        return fail(ErrorCode::mismatch, "give one transfer per pair of neighbouring stages",
                    "{} stages need {} transfers, not {}", profile.stages.size(), profile.stages.size() - 1,
                    profile.transfer.size());
    for (std::size_t s = 0; s < profile.transfer.size(); ++s)
        if (!usable(profile.transfer[s]))
            return fail(ErrorCode::malformed, "give seconds, 0 or more",
                        "the transfer after stage {} takes {} s", s, profile.transfer[s].value);
    if (!usable(profile.all_reduce) || !usable(profile.switch_latency) || !usable(profile.dwell) ||
        !(profile.switch_energy.value >= 0) || !(profile.switch_energy.value <= most_joules))
        return fail(ErrorCode::malformed, "give seconds and joules, 0 or more",
                    "the all-reduce, switch latency, switch energy or dwell is not usable");
    return {};
}

void replicate(Profile& profile, int count) {
    for (StageProfile& stage : profile.stages) {
        for (auto& points : stage.points)
            for (Point& point : points) point.energy *= count;
        stage.wait *= count;
    }
    profile.switch_energy *= count;
}

Result<StageProfile> share_clock(std::span<const StageProfile> members) {
    invariant(!members.empty(), "a group has a member");
    StageProfile group = members[0];
    for (const Kind kind : profiled_kinds) {
        std::vector<Point> common;
        for (const Point& first : members[0].of(kind)) {
            Point sum = first;
            bool known = true;
            for (const StageProfile& member : members.subspan(1)) {
                const auto same = std::ranges::find(member.of(kind), first.clock, &Point::clock);
                known = known && same != member.of(kind).end();
                if (known) sum.time = std::max(sum.time, same->time);
            }
            if (!known) continue;
            sum.energy = Joules(0);
            for (const StageProfile& member : members) {
                const Point& own = *std::ranges::find(member.of(kind), first.clock, &Point::clock);
                sum.energy += own.energy + member.wait * (sum.time - own.time);
            }
            common.push_back(sum);
        }
        if (common.empty() && !members[0].of(kind).empty())
            return fail(ErrorCode::mismatch, "profile the members at the same clocks",
                        "the members of the group share no {} clock", name_of(kind));
        group.of(kind) = std::move(common);
    }
    for (const StageProfile& member : members.subspan(1)) {
        group.wait += member.wait;
        if (member.device != group.device) group.device += "+" + member.device;
        group.activation = std::max(group.activation, member.activation);
        group.weights = std::max(group.weights, member.weights);
        if (member.memory.value > 0)
            group.memory = group.memory.value > 0 ? std::min(group.memory, member.memory) : member.memory;
    }
    return group;
}

void split_backward(Profile& profile, double share) {
    for (StageProfile& stage : profile.stages) {
        auto& backward = stage.of(Kind::backward);
        auto& weight = stage.of(Kind::weight);
        weight = backward;
        for (Point& p : weight) p.time *= share, p.energy *= share;
        for (Point& p : backward) p.time *= 1 - share, p.energy *= 1 - share;
    }
    profile.provenance = {Provenance::Kind::estimated, fmt::format("backward split at {:g}", share)};
}

}  // namespace viridian::pipeline
