#include "viridian/base/energy.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>

namespace viridian {
namespace {

std::string_view kind_name(Provenance::Kind kind) {
    switch (kind) {
        case Provenance::Kind::measured:
            return "measured";
        case Provenance::Kind::estimated:
            return "estimated";
        case Provenance::Kind::derived:
            return "derived";
    }
    return "estimated";
}

int strength(Provenance::Kind kind) {
    switch (kind) {
        case Provenance::Kind::measured:
            return 2;
        case Provenance::Kind::derived:
            return 1;
        case Provenance::Kind::estimated:
            return 0;
    }
    return 0;
}

}  // namespace

std::string Provenance::text() const { return fmt::format("{}:{}", kind_name(kind), source); }

Energy& Energy::operator+=(const Energy& other) {
    if (strength(other.provenance.kind) < strength(provenance.kind) || provenance.source.empty())
        provenance = other.provenance;
    value += other.value;
    low += other.low;
    high += other.high;
    return *this;
}

Json to_json(const Energy& energy) {
    return {{"value", energy.value.value},
            {"low", energy.low.value},
            {"high", energy.high.value},
            {"provenance", energy.provenance.text()}};
}

Result<Energy> energy_from_json(const Json& json) {
    const std::string next = "write joules as {value, low, high, provenance}";
    for (const char* key : {"value", "low", "high"})
        if (!json.is_object() || !json.contains(key) || !json[key].is_number())
            return fail(ErrorCode::malformed, next, "a joules figure lacks the number `{}`", key);
    if (!json.contains("provenance") || !json["provenance"].is_string())
        return fail(ErrorCode::malformed, next, "a joules figure lacks its provenance");
    const auto text = json["provenance"].get<std::string>();
    const auto colon = text.find(':');
    Energy energy{Joules(json["value"]), Joules(json["low"]), Joules(json["high"]), {}};
    for (const auto kind :
         {Provenance::Kind::measured, Provenance::Kind::estimated, Provenance::Kind::derived})
        if (colon != std::string::npos && text.substr(0, colon) == kind_name(kind)) {
            energy.provenance = {kind, text.substr(colon + 1)};
            return energy;
        }
    return fail(ErrorCode::malformed, "start it with measured:, estimated: or derived:",
                "unknown provenance `{}` of a joules figure", text);
}

}  // namespace viridian
