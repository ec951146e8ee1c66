#include "viridian/pipeline/plan_json.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::pipeline {
namespace {

constexpr std::string_view plan_schema = "viridian.pipeline-plan/1";
constexpr std::string_view frontier_schema = "viridian.pipeline-frontier/1";

Json to_json(const PlannedUnit& unit) {
    Json json = {{"stage", unit.stage},
                 {"kind", unit.kind},
                 {"micro_batch", unit.micro_batch},
                 {"clock_mhz", unit.clock.value / 1e6},
                 {"start", unit.start.value},
                 {"duration", unit.duration.value},
                 {"energy", unit.energy.value}};
    if (unit.second_clock.value > 0) {
        json["second_clock_mhz"] = unit.second_clock.value / 1e6;
        json["second_after"] = unit.second_after.value;
    }
    if (unit.overlapped) json["overlapped"] = true;
    if (unit.slack.value > 0) json["slack"] = unit.slack.value;
    if (unit.critical) json["critical"] = true;
    return json;
}

Json to_json(const RankResult& rank) {
    Json json = {{"busy", rank.busy.value},
                 {"waiting", rank.waiting.value},
                 {"bubbles",
                  {{"usable", rank.usable_bubbles},
                   {"unusable", rank.unusable_bubbles},
                   {"usable_time", rank.usable_time.value},
                   {"unusable_time", rank.unusable_time.value}}},
                 {"clock_switches", rank.clock_switches},
                 {"micro_batches_in_flight", rank.most_in_flight}};
    if (rank.memory_peak.value > 0) {
        json["memory_peak"] = rank.memory_peak.value;
        json["memory_capacity"] = rank.memory_capacity.value;
        for (const auto& [when, held] : rank.memory) json["memory"].push_back({when.value, held.value});
    }
    return json;
}

Error wrong_plan_json(std::string_view name, std::string_view what) {
    return fail(ErrorCode::malformed, "`viridian pipeline plan --json` writes the format", "`{}`: {}", name,
                what);
}

// A whole number of a unit, in [0, most].
Result<int> whole(const Json& unit, std::string_view key, int most, std::string_view name) {
    const auto found = unit.find(key);
    if (found == unit.end() || !found->is_number())
        return wrong_plan_json(name, fmt::format("a unit has no `{}`", key));
    const double value = found->get<double>();
    if (!(value >= 0 && value <= most) || value != std::floor(value))
        return wrong_plan_json(name, fmt::format("`{}` of a unit is not a number from 0 to {}", key, most));
    return static_cast<int>(value);
}

Result<double> number(const Json& unit, std::string_view key, std::string_view name) {
    const auto found = unit.find(key);
    if (found == unit.end()) return 0.0;
    if (!found->is_number() || !(found->get<double>() >= 0))
        return wrong_plan_json(name, fmt::format("`{}` of a unit is not a usable number", key));
    return found->get<double>();
}

}  // namespace

Json to_json(const PlanResult& plan) {
    Json schedule = Json::array(), ranks = Json::array();
    for (const RankResult& rank : plan.ranks) {
        Json units = Json::array();
        for (const PlannedUnit& unit : rank.units) units.push_back(to_json(unit));
        schedule.push_back(std::move(units));
        ranks.push_back(to_json(rank));
    }
    Json json = {
        {"schema", plan_schema},
        {"planner", plan.planner},
        {"schedule_name", plan.schedule},
        {"stages", plan.stages},
        {"micro_batches", plan.micro_batches},
        {"split_backward", plan.split_backward},
        {"clocks_per_unit", plan.clocks_per_unit},
        {"time", plan.time.value},
        {"energy", plan.energy.value},
        {"unit_energy", plan.unit_energy.value},
        {"waiting_energy", plan.waiting_energy.value},
        {"maximum_clocks", {{"time", plan.maximum_time.value}, {"energy", plan.maximum_energy.value}}},
        {"provenance", plan.provenance.text()},
        {"exact", plan.exact}};
    if (plan.bound) {
        json["bound"] = plan.bound->value;
        json["gap"] = std::max(0.0, plan.energy.value / plan.bound->value - 1);
    }
    if (plan.certificate)
        json["certificate"] = {
            {"time", plan.certificate->time.value}, {"primal", plan.certificate->primal},
            {"dual", plan.certificate->dual},       {"unit", "attojoules above waiting power"},
            {"arithmetic", "128-bit integers"},     {"optimal", plan.certificate->optimal}};
    else
        json["certificate"] = nullptr;
    if (plan.iterations > 0) json["iterations"] = plan.iterations;
    if (!plan.notes.empty()) json["notes"] = plan.notes;
    json["schedule"] = std::move(schedule);
    json["ranks"] = std::move(ranks);
    return json;
}

Json to_json(const FrontierResult& frontier) {
    const auto pairs = [](const std::vector<FrontierPair>& points) {
        Json list = Json::array();
        for (const FrontierPair& p : points)
            list.push_back({{"time", p.time.value}, {"energy", p.energy.value}});
        return list;
    };
    Json json = {{"schema", frontier_schema},
                 {"schedule_name", frontier.schedule},
                 {"stages", frontier.stages},
                 {"micro_batches", frontier.micro_batches},
                 {"provenance", frontier.provenance.text()},
                 {"clocks_per_unit", 2},
                 {"breakpoints", frontier.points.size() + frontier.beyond.size()},
                 {"certified", frontier.certified},
                 {"elapsed_seconds", frontier.elapsed.value},
                 {"frontier", pairs(frontier.points)},
                 {"beyond", pairs(frontier.beyond)}};
    for (const auto& [name, point] : frontier.planners)
        json["planners"].push_back(
            {{"planner", name}, {"time", point.time.value}, {"energy", point.energy.value}});
    return json;
}

Result<PlanFile> plan_from_json(const Json& json, std::string_view name) {
    if (!json.is_object()) return wrong_plan_json(name, "the plan is not an object");
    if (json.value("schema", Json()) != plan_schema)
        return fail(ErrorCode::mismatch, fmt::format("give a file with schema `{}`", plan_schema),
                    "`{}` has another schema", name);
    PlanFile plan;
    Schedule& schedule = plan.schedule;
    constexpr int most = 1 << 24;
    VIRIDIAN_TRY(schedule.stages, whole(json, "stages", most, name));
    VIRIDIAN_TRY(schedule.micro_batches, whole(json, "micro_batches", most, name));
    if (const auto split = json.find("split_backward"); split != json.end() && split->is_boolean())
        schedule.split_backward = split->get<bool>();
    schedule.name = "plan";
    if (const auto own = json.find("schedule_name"); own != json.end() && own->is_string())
        schedule.name = own->get<std::string>();
    const auto ranks = json.find("schedule");
    if (ranks == json.end() || !ranks->is_array())
        return wrong_plan_json(name, "`schedule` is not a list of ranks");
    for (const Json& rank : *ranks) {
        if (!rank.is_array()) return wrong_plan_json(name, "a rank is not a list of units");
        auto& units = schedule.ranks.emplace_back();
        for (const Json& one : rank) {
            if (!one.is_object()) return wrong_plan_json(name, "a unit is not an object");
            Unit unit;
            VIRIDIAN_TRY(unit.stage, whole(one, "stage", most, name));
            VIRIDIAN_TRY(unit.micro_batch, whole(one, "micro_batch", most, name));
            const auto kind = one.find("kind");
            const auto known =
                kind != one.end() && kind->is_string() ? kind_of(kind->get<std::string>()) : std::nullopt;
            if (!known)
                return wrong_plan_json(name, "a unit's `kind` is not forward, backward, weight or reduce");
            unit.kind = *known;
            if (const auto both = one.find("overlapped"); both != one.end() && both->is_boolean())
                unit.overlapped = both->get<bool>();
            VIRIDIAN_TRY(const double clock, number(one, "clock_mhz", name));
            VIRIDIAN_TRY(const double second, number(one, "second_clock_mhz", name));
            VIRIDIAN_TRY(const double after, number(one, "second_after", name));
            plan.clock.emplace_back(clock * 1e6);
            plan.second_clock.emplace_back(second * 1e6);
            plan.second_after.emplace_back(after);
            units.push_back(unit);
        }
    }
    return plan;
}

Result<ClockAssignment> assign_clocks(const PlanFile& plan, const Network& network) {
    invariant(static_cast<int>(plan.clock.size()) == network.size(), "a plan has one clock per unit");
    ClockAssignment out;
    const auto find = [&](const Curve& curve, Hertz clock, std::size_t u) -> Result<Point> {
        for (const Point& p : curve.points)
            if (std::abs(p.clock.value - clock.value) < 1e3) return p;
        const auto rank = std::ranges::upper_bound(network.rank_begin, static_cast<std::int32_t>(u));
        return fail(ErrorCode::missing_entry, "profile that clock, or plan again from this profile",
                    "the plan runs a unit of rank {} at {:g} MHz, which the profile does not have",
                    rank - network.rank_begin.begin() - 1, clock.value / 1e6);
    };
    for (std::size_t u = 0; u < plan.clock.size(); ++u) {
        const Curve& curve = network.curve(static_cast<int>(u));
        if (curve.points.empty()) {
            out.duration.push_back(curve.slowest());
            out.energy.push_back(curve.energy(0));
            continue;
        }
        Point point = curve.points.back();
        if (plan.clock[u].value > 0) {
            VIRIDIAN_TRY(point, find(curve, plan.clock[u], u));
        }
        if (plan.second_clock[u].value > 0) {
            VIRIDIAN_TRY(const Point second, find(curve, plan.second_clock[u], u));
            const double share = std::clamp(plan.second_after[u] / point.time, 0.0, 1.0);
            point.time = point.time * share + second.time * (1 - share);
            point.energy = point.energy * share + second.energy * (1 - share);
        }
        out.duration.push_back(to_nanoseconds(point.time));
        out.energy.push_back(point.energy);
    }
    return out;
}

}  // namespace viridian::pipeline
