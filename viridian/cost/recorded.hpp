#pragma once
// Makes a source of prices from a file: from prices that were recorded, or from a processor's description,
// by which they are computed. The file's `schema` tells which. Nothing is timed, on no machine.
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/cost/source.hpp"

namespace viridian::cost {

struct Recorded {
    std::string device;      // "synthetic-gpu, seed 1"
    std::string provenance;  // where its joules come from: "estimated:synthetic-gpu"
    std::string schema;
    Source source;
};

// Errors: malformed, unsupported (another schema).
[[nodiscard]] Result<Recorded> recorded_from_json(const Json& json);

}  // namespace viridian::cost
