#pragma once
// Finds what each field of a meter really says, from a log of its readings taken while a load stepped on and
// off: how often the field is renewed, over which window it averages, how late it is, the idle power, the
// counter's joules against the integral of each power field, and the cost of a read.
#include "viridian/meter/characterise/renewals.hpp"
#include "viridian/meter/characterise/response.hpp"

namespace viridian::meter {

enum class StampKind : std::uint8_t {
    renewal,  // the stamp changes when the value is renewed
    asking,   // the stamp is the time of the question, or there is none
};

struct FieldCharacter {
    Channel channel;
    StampKind stamp = StampKind::asking;
    std::optional<Renewals> renewals;  // none: the value hardly ever changed
    Response response;                 // its lag counts from the renewal
    double idle_watts = 0.0;           // mean in the longest stretch without load, its beginning left out
    double counter_ratio = 0.0;        // integral of this power field over the counter's joules; 0: unknown
    double counter_doubt = 0.0;        // error of the ratio, from the ends of the span
    std::int64_t resolution_uj = 0;    // of counters: greatest common divisor of the steps
    std::int64_t cost_ns = 0, cost_p99_ns = 0;  // time of one read: median and 99th percentile
    std::uint64_t reads = 0;
};

// Characterises each field of `log`, which was recorded while `load` ran. Errors: mismatch if log and load do
// not overlap by at least a second.
[[nodiscard]] Result<std::vector<FieldCharacter>> characterise(const ProbeLog& log,
                                                               std::span<const LoadStep> load);

}  // namespace viridian::meter
