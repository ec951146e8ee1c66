#pragma once
// Tells how well plans were predicted on this machine: `viridian profile --residuals`, and a line of
// `doctor`.
#include <optional>

#include "viridian/cli/command.hpp"
#include "viridian/cost/residuals.hpp"

namespace viridian::cli {

// Returns one row for each plan that `optimize` ran on this machine with the cost database `database`, and a
// summary. Errors: file_not_found if there is no such file, those of Database::open.
[[nodiscard]] Result<Answer> residuals(const std::string& database);

// Returns the summary for the user's own cost database, or nothing if it holds no residual of this machine.
[[nodiscard]] std::optional<cost::ResidualSummary> own_residuals();
// Says the summary in one sentence.
[[nodiscard]] std::string text(const cost::ResidualSummary& summary);

}  // namespace viridian::cli
