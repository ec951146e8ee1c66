#include "viridian/base/energy.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>
#include <array>

namespace viridian {
namespace {

// By kind, strongest first.
constexpr std::array<std::string_view, 4> kind_names = {"measured", "logged", "derived", "estimated"};

}  // namespace

std::string Provenance::text() const {
    return fmt::format("{}:{}", kind_names[static_cast<std::size_t>(kind)], source);
}

Energy& Energy::operator+=(const Energy& other) {
    if (other.provenance.kind > provenance.kind || provenance.source.empty()) provenance = other.provenance;
    value += other.value;
    low += other.low;
    high += other.high;
    return *this;
}

Energy with_model_error(Energy energy) {
    if (energy.provenance.kind != Provenance::Kind::estimated) return energy;
    const Joules low = std::min(energy.low, energy.value), high = std::max(energy.high, energy.value);
    energy.low = low.value < 0 ? low * estimate_factor : low / estimate_factor;
    energy.high = high.value < 0 ? high / estimate_factor : high * estimate_factor;
    return energy;
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
    for (std::size_t i = 0; i < kind_names.size(); ++i)
        if (colon != std::string::npos && text.substr(0, colon) == kind_names[i]) {
            energy.provenance = {static_cast<Provenance::Kind>(i), text.substr(colon + 1)};
            return energy;
        }
    return fail(ErrorCode::malformed, "start it with measured:, logged:, derived: or estimated:",
                "unknown provenance `{}` of a joules figure", text);
}

}  // namespace viridian
