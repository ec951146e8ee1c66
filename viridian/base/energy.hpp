#pragma once
// Energy is an amount of joules with its 95 % interval and its provenance (docs/architecture.md, "Honesty
// about joules"). The provenance is `measured` if a hardware meter gave the number, `estimated` if a model
// did, and `derived` if the number was attributed to an operation from measured or estimated power.
#include <string>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

// Provenance says from which meter, model or method a number comes.
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

    // Adds values and both ends of the intervals, as if the errors were fully correlated, which gives the
    // widest interval. The weaker provenance is kept: anything plus an estimate is an estimate.
    Energy& operator+=(const Energy& other);
};

// Writes and reads {value, low, high, provenance}, in joules. Errors: malformed.
[[nodiscard]] Json to_json(const Energy& energy);
[[nodiscard]] Result<Energy> energy_from_json(const Json& json);

}  // namespace viridian
