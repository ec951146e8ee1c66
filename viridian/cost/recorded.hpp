#pragma once
// Makes a source of prices from a file, which holds either recorded prices or the description of a processor,
// from which prices are computed. The file's `schema` says which. Nothing is timed.
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/cost/source.hpp"

namespace viridian::cost {

// A Recorded is such a source, with the origin of its prices.
struct Recorded {
    std::string device;      // "synthetic-gpu, seed 1"
    std::string provenance;  // where its joules come from: "estimated:synthetic-gpu"
    std::string schema;
    PriceSource source;
};

// Makes the source from the JSON of a file. Errors: malformed, unsupported (another schema).
[[nodiscard]] Result<Recorded> recorded_from_json(const Json& json);

}  // namespace viridian::cost
