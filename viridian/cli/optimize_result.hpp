#pragma once
// The result of `optimize` as JSON (schema viridian.optimize/1), the one source of its text and its page.
#include "viridian/cli/planned.hpp"

namespace viridian::cli {

// Steps, and the operators that cost nothing, in execution order: what the page's table and graph show.
[[nodiscard]] Json layers_json(const Planned& planned, const std::vector<cost::Price>& prices,
                               const std::vector<double>& ran);
[[nodiscard]] Json side_json(const Planned& planned, const Ran& ran);  // baseline, optimized
[[nodiscard]] Json predicted_json(const Planned& planned);             // of a plan that is not run
[[nodiscard]] Json assignment_json(const plan::Assignment& assignment);
// What a person reads in the terminal.
[[nodiscard]] std::string optimize_text(const Json& result);
// The same where prices came from a file.
[[nodiscard]] std::string recorded_text(const Json& result);

}  // namespace viridian::cli
