#pragma once
// Reads and writes the stage profile as CSV: header `stage,instruction,frequency,time,energy` (the columns of
// Zeus's pipeline frequency optimizer), in any order; MHz, seconds, joules. Lines starting with `#` and empty
// lines are skipped.
#include <string>
#include <string_view>

#include "viridian/base/result.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

// Errors: malformed (with the line), missing_entry, limit_exceeded. The result is checked and sorted.
[[nodiscard]] Result<Profile> read_profile_csv(std::string_view text, std::string_view name);
[[nodiscard]] std::string write_profile_csv(const Profile& profile);

}  // namespace viridian::pipeline
