#pragma once
// Reads and writes the stage profile as JSON, schema `viridian.stage-profile/1`: all that the CSV holds, and
// waiting power, memory, transfers, clock switches and data parallelism (docs/pipeline.md, "Stage profile").
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

[[nodiscard]] Json to_json(const Profile& profile);
// Returns the profile that `json` holds, checked and sorted (`check_and_sort`). `name` stands for the file in
// errors. Errors: malformed, mismatch (another schema), missing_entry.
[[nodiscard]] Result<Profile> profile_from_json(const Json& json, std::string_view name);

// Reads `text` in either format: as JSON if its first character is `{`, otherwise as CSV. Errors: those of
// the format.
[[nodiscard]] Result<Profile> read_profile(std::string_view text, std::string_view name);

}  // namespace viridian::pipeline
