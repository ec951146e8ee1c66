#include "viridian/pipeline/profile/profile_json.hpp"

#include "viridian/base/json.hpp"

#include "viridian/pipeline/profile/csv.hpp"
#include "viridian/pipeline/profile/profile_csv.hpp"

namespace viridian::pipeline {
namespace {

constexpr std::string_view schema = "viridian.stage-profile/1";

Error wrong_profile_json(std::string_view name, std::string_view what) {
    return fail(ErrorCode::malformed, "docs/pipeline.md shows the format", "`{}`: {}", name, what);
}

// An optional number: `fallback` when absent.
Result<double> number(const Json& object, std::string_view key, double fallback, std::string_view name) {
    const auto found = object.find(key);
    if (found == object.end()) return fallback;
    if (!found->is_number()) return wrong_profile_json(name, fmt::format("`{}` is not a number", key));
    return found->get<double>();
}

Result<Bytes> bytes(const Json& object, std::string_view key, std::string_view name) {
    VIRIDIAN_TRY(const double value, number(object, key, 0, name));
    if (!(value >= 0) || value > 9e15)
        return wrong_profile_json(name, fmt::format("`{}` is not a usable number of bytes", key));
    return Bytes(static_cast<std::int64_t>(value));
}

Result<std::vector<Point>> points(const Json& rows, std::string_view name) {
    if (!rows.is_array()) return wrong_profile_json(name, "the points of an instruction are not a list");
    std::vector<Point> out;
    for (const Json& row : rows) {
        if (!row.is_object()) return wrong_profile_json(name, "a point is not an object");
        VIRIDIAN_TRY(const double mhz, number(row, "frequency", 0, name));
        VIRIDIAN_TRY(const double seconds, number(row, "time", 0, name));
        VIRIDIAN_TRY(const double joules, number(row, "energy", 0, name));
        out.push_back({Hertz(mhz * 1e6), Seconds(seconds), Joules(joules)});
    }
    return out;
}

Result<StageProfile> stage(const Json& json, std::string_view name) {
    if (!json.is_object()) return wrong_profile_json(name, "a stage is not an object");
    StageProfile out;
    const auto instructions = json.find("instructions");
    if (instructions == json.end() || !instructions->is_object())
        return wrong_profile_json(name, "a stage has no `instructions`");
    for (const auto& [key, rows] : instructions->items()) {
        const auto kind = kind_of(key);
        if (!kind || *kind == Kind::reduce)
            return wrong_profile_json(name, fmt::format("unknown instruction `{}`", key.substr(0, 40)));
        VIRIDIAN_TRY(out.of(*kind), points(rows, name));
    }
    VIRIDIAN_TRY(const double wait, number(json, "wait_power", 0, name));
    out.wait = Watts(wait);
    VIRIDIAN_TRY(out.activation, bytes(json, "activation_bytes", name));
    VIRIDIAN_TRY(out.weight_stash, bytes(json, "weight_stash_bytes", name));
    VIRIDIAN_TRY(out.weights, bytes(json, "weight_bytes", name));
    VIRIDIAN_TRY(out.memory, bytes(json, "memory_bytes", name));
    if (const auto device = json.find("device"); device != json.end() && device->is_string())
        out.device = device->get<std::string>();
    return out;
}

}  // namespace

Json to_json(const Profile& profile) {
    Json stages = Json::array();
    for (const StageProfile& s : profile.stages) {
        Json instructions = Json::object();
        for (const Kind kind : profiled_kinds)
            for (const Point& p : s.of(kind))
                instructions[std::string(name_of(kind))].push_back(
                    {{"frequency", p.clock.value / 1e6}, {"time", p.time.value}, {"energy", p.energy.value}});
        stages.push_back({{"device", s.device},
                          {"wait_power", s.wait.value},
                          {"activation_bytes", s.activation.value},
                          {"weight_stash_bytes", s.weight_stash.value},
                          {"weight_bytes", s.weights.value},
                          {"memory_bytes", s.memory.value},
                          {"instructions", std::move(instructions)}});
    }
    Json json = {
        {"schema", schema}, {"provenance", profile.provenance.text()}, {"stages", std::move(stages)}};
    for (const Seconds t : profile.transfer) json["transfer"].push_back(t.value);
    json["all_reduce"] = profile.all_reduce.value;
    json["switch"] = {{"latency", profile.switch_latency.value},
                      {"energy", profile.switch_energy.value},
                      {"dwell", profile.dwell.value}};
    return json;
}

Result<Profile> profile_from_json(const Json& json, std::string_view name) {
    if (!json.is_object()) return wrong_profile_json(name, "the profile is not an object");
    if (json.value("schema", Json()) != schema)
        return fail(ErrorCode::mismatch, fmt::format("set `schema` to `{}`", schema),
                    "`{}` has another schema", name);
    Profile profile;
    const auto stages = json.find("stages");
    if (stages == json.end() || !stages->is_array()) return wrong_profile_json(name, "`stages` is missing");
    for (const Json& one : *stages) {
        VIRIDIAN_TRY(StageProfile read, stage(one, name));
        profile.stages.push_back(std::move(read));
    }
    if (const auto transfer = json.find("transfer"); transfer != json.end()) {
        if (!transfer->is_array()) return wrong_profile_json(name, "`transfer` is not a list");
        for (const Json& t : *transfer) {
            if (!t.is_number()) return wrong_profile_json(name, "a transfer is not a number");
            profile.transfer.emplace_back(t.get<double>());
        }
    }
    VIRIDIAN_TRY(const double all_reduce, number(json, "all_reduce", 0, name));
    profile.all_reduce = Seconds(all_reduce);
    if (const auto change = json.find("switch"); change != json.end()) {
        if (!change->is_object()) return wrong_profile_json(name, "`switch` is not an object");
        VIRIDIAN_TRY(const double latency, number(*change, "latency", 0, name));
        VIRIDIAN_TRY(const double energy, number(*change, "energy", 0, name));
        VIRIDIAN_TRY(const double dwell, number(*change, "dwell", 0, name));
        profile.switch_latency = Seconds(latency);
        profile.switch_energy = Joules(energy);
        profile.dwell = Seconds(dwell);
    }
    profile.provenance = {Provenance::Kind::derived, fmt::format("stage profile {}", name)};
    if (const auto from = json.find("provenance");
        from != json.end() && from->is_string() && from->get<std::string>().starts_with("estimated:"))
        profile.provenance = {Provenance::Kind::estimated, from->get<std::string>().substr(10)};
    if (auto checked = check_and_sort(profile); !checked.ok())
        return std::move(checked).error().within(fmt::format("in `{}`", name));
    return profile;
}

Result<Profile> read_profile(std::string_view text, std::string_view name) {
    if (!trimmed(text).starts_with('{')) return read_profile_csv(text, name);
    VIRIDIAN_TRY(const Json json, parse_json(text, name));
    return profile_from_json(json, name);
}

}  // namespace viridian::pipeline
