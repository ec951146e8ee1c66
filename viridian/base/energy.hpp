#pragma once
// A joules figure is never bare: it carries an interval and where it came from (docs/architecture.md,
// "Honesty about joules"). `measured` by a hardware meter, `estimated` by a model, `derived` by attribution
// from one of the two.
#include <string>

#include "viridian/base/json.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

struct Provenance {
    enum class Kind { measured, estimated, derived } kind = Kind::estimated;
    std::string source;  // meter, model or method: "powercap", "cpu-linear", "overlap from powercap"

    [[nodiscard]] std::string text() const;  // "measured:powercap"
    auto operator<=>(const Provenance&) const = default;
};

struct Energy {
    Joules value;
    Joules low;  // 95 % interval
    Joules high;
    Provenance provenance;

    // Sums intervals as fully correlated (the safe reading). The weaker provenance wins: anything plus an
    // estimate is an estimate.
    Energy& operator+=(const Energy& other);
};

[[nodiscard]] Json to_json(const Energy& energy);  // {value, low, high, provenance}
[[nodiscard]] Result<Energy> energy_from_json(const Json& json);

}  // namespace viridian
