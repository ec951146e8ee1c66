#pragma once
// Energy is an amount of joules with an interval and its provenance (docs/architecture.md, "Honesty about
// joules"). The method says what the interval means (docs/account.md); for estimates it is a convention.
// The provenance is `measured` if a hardware meter gave the number that Viridian read, `logged` if it is from
// a power log of another program or from one that does not say by what it was recorded, `estimated` if a
// model gave it, and `derived` if the number was attributed to an operation from the energy of the others.
#include <string>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

// Provenance says from which meter, model or method a number comes.
struct Provenance {
    enum class Kind { measured, logged, derived, estimated } kind = Kind::estimated;
    std::string source;  // meter, model or method: "powercap", "cpu-linear", "overlap from powercap"

    [[nodiscard]] std::string text() const;  // "measured:powercap"
    auto operator<=>(const Provenance&) const = default;
};

struct Energy {
    Joules value;
    Joules low;  // the interval
    Joules high;
    Provenance provenance;

    // Adds values and both ends of the intervals, as if the errors were fully correlated, which gives the
    // widest interval. The weaker provenance is kept: anything plus an estimate is an estimate.
    Energy& operator+=(const Energy& other);
};

// The interval of an estimate reaches from its value divided by this to its value times this. That is a
// convention, because no model was compared with a meter. An end below zero moves away from zero likewise.
inline constexpr double estimate_factor = 2;
// Returns `energy` with this in its interval if it is estimated; other energies stay as they are.
[[nodiscard]] Energy with_model_error(Energy energy);

// Writes and reads {value, low, high, provenance}, in joules. Errors: malformed.
[[nodiscard]] Json to_json(const Energy& energy);
[[nodiscard]] Result<Energy> energy_from_json(const Json& json);

}  // namespace viridian
