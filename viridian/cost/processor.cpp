#include "viridian/cost/processor.hpp"

#include "viridian/base/json.hpp"

#include <cmath>

namespace viridian::cost {
namespace {

constexpr std::size_t most_algorithms = 64;

Error wrong_processor(std::string_view member) {
    return fail(ErrorCode::malformed, "compare with benchmarks/eago/processor.json",
                "`{}` of the processor is missing or not what it should be", member);
}

const Json* find(const Json& json, const char* member) {
    const auto found = json.find(member);
    return found == json.end() ? nullptr : &*found;
}

Result<double> positive(const Json& json, const char* member) {
    const Json* found = find(json, member);
    if (found == nullptr || !found->is_number()) return wrong_processor(member);
    const double value = found->get<double>();
    if (!std::isfinite(value) || !(value > 0) || value > 1e30) return wrong_processor(member);
    return value;
}

Result<Range> range(const Json& json, const char* member) {
    const Json* found = find(json, member);
    if (found == nullptr || !found->is_array() || found->size() != 2 || !(*found)[0].is_number() ||
        !(*found)[1].is_number())
        return wrong_processor(member);
    const Range range{(*found)[0].get<double>(), (*found)[1].get<double>()};
    if (!(range.low > 0) || !(range.low <= range.high) || !(range.high <= 1e6))
        return wrong_processor(member);
    return range;
}

Result<std::vector<Algorithm>> algorithms(const Json& json, const char* member, std::size_t least) {
    const Json* found = find(json, member);
    if (found == nullptr || !found->is_array() || found->size() < least || found->size() > most_algorithms)
        return wrong_processor(member);
    std::vector<Algorithm> list;
    for (const Json& item : *found) {
        if (!item.is_object()) return wrong_processor(member);
        const Json* name = find(item, "name");
        const Json* last = find(item, "channels_last");
        if (name == nullptr || !name->is_string() || last == nullptr || !last->is_boolean())
            return wrong_processor(member);
        Algorithm algorithm{name->get<std::string>(), last->get<bool>(), {}, {}};
        VIRIDIAN_TRY(algorithm.seconds, range(item, "seconds"));
        VIRIDIAN_TRY(algorithm.watts, range(item, "watts"));
        list.push_back(std::move(algorithm));
    }
    if (least > 0 && list.front().channels_last)
        return wrong_processor(member);  // every region has a plain kernel
    return list;
}

Json to_json(const std::vector<Algorithm>& list) {
    Json json = Json::array();
    for (const Algorithm& a : list)
        json.push_back({{"name", a.name},
                        {"channels_last", a.channels_last},
                        {"seconds", {a.seconds.low, a.seconds.high}},
                        {"watts", {a.watts.low, a.watts.high}}});
    return json;
}

}  // namespace

Json to_json(const Processor& p) {
    return {{"schema", processor_schema},
            {"name", p.name},
            {"seed", p.seed},
            {"flop_per_second", p.peak_flop},
            {"reachable", p.reachable},
            {"bytes_per_second", p.bandwidth},
            {"launch_seconds", p.launch},
            {"half_occupied", p.half_occupied},
            {"watts", {{"idle", p.idle_watts}, {"flop", p.flop_watts}, {"bytes", p.byte_watts}}},
            {"convolutions", to_json(p.convolutions)},
            {"small_convolutions", to_json(p.small_convolutions)},
            {"others", to_json(p.others)}};
}

Result<Processor> processor_from_json(const Json& json) {
    if (!json.is_object()) return wrong_processor("schema");
    Processor p;
    const Json *schema = find(json, "schema"), *name = find(json, "name"), *seed = find(json, "seed"),
               *watts = find(json, "watts");
    if (schema == nullptr || *schema != processor_schema) return wrong_processor("schema");
    if (name == nullptr || !name->is_string()) return wrong_processor("name");
    if (seed == nullptr || !seed->is_number_unsigned()) return wrong_processor("seed");
    if (watts == nullptr || !watts->is_object()) return wrong_processor("watts");
    p.name = name->get<std::string>();
    p.seed = seed->get<std::uint64_t>();
    VIRIDIAN_TRY(p.peak_flop, positive(json, "flop_per_second"));
    VIRIDIAN_TRY(p.reachable, positive(json, "reachable"));
    VIRIDIAN_TRY(p.bandwidth, positive(json, "bytes_per_second"));
    VIRIDIAN_TRY(p.launch, positive(json, "launch_seconds"));
    VIRIDIAN_TRY(p.half_occupied, positive(json, "half_occupied"));
    VIRIDIAN_TRY(p.idle_watts, positive(*watts, "idle"));
    VIRIDIAN_TRY(p.flop_watts, positive(*watts, "flop"));
    VIRIDIAN_TRY(p.byte_watts, positive(*watts, "bytes"));
    VIRIDIAN_TRY(p.convolutions, algorithms(json, "convolutions", 1));
    VIRIDIAN_TRY(p.small_convolutions, algorithms(json, "small_convolutions", 0));
    VIRIDIAN_TRY(p.others, algorithms(json, "others", 1));
    return p;
}

}  // namespace viridian::cost
