#pragma once
// Reads and writes the stage profile as CSV. The header is `stage,instruction,frequency,time,energy`, the
// columns of Zeus's pipeline frequency optimizer; a file may have them in any order. Frequencies are in MHz,
// times in seconds and energies in joules. Lines that start with `#` and empty lines are skipped.
#include <string>
#include <string_view>

#include "viridian/base/result.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

// Returns the profile that `text` holds, checked and sorted (`check_and_sort`). `name` stands for the file in
// errors. Errors: malformed (with the line), missing_entry.
[[nodiscard]] Result<Profile> read_profile_csv(std::string_view text, std::string_view name);
// Returns the CSV of the measured points of `profile`.
[[nodiscard]] std::string write_profile_csv(const Profile& profile);

}  // namespace viridian::pipeline
