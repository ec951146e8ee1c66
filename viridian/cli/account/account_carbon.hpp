#pragma once
// Adds grams of CO2 to an accounting, by a file of factors that the user gives (docs/fleet.md, "Carbon").
#include "viridian/account/result.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::cli {

// Adds `carbon` to the object and a line to the text of `answer`: grams of the metered devices' energy, by
// the factors in the file `path` of the time that `log` covers. Errors: those of reading the file;
// invalid_argument (the file does not cover that time).
[[nodiscard]] Result<void> add_carbon(Answer& answer, const account::Accounting& result,
                                      const meter::PowerLog& log, const std::string& path);

}  // namespace viridian::cli
