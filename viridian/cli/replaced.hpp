#pragma once
// What a command writes replaces nothing that it reads.
#include "viridian/cli/model_session.hpp"

namespace viridian::cli {

// One file, by whatever names and links.
[[nodiscard]] bool same_file(const Path& a, const Path& b);
// What a name leads to, links followed, whether or not it exists.
[[nodiscard]] Path resolved(const Path& path);

// The model, the database, those of `inputs` (as --inputs has them: NAME=FILE, FILE, FOLDER).
[[nodiscard]] std::vector<Path> files_read(const ModelOptions& options,
                                           const std::vector<std::string>& inputs);

// Errors: invalid_argument. Empty names are none.
[[nodiscard]] Result<void> check_replaces_nothing(const std::vector<Path>& writes,
                                                  const std::vector<Path>& reads);

}  // namespace viridian::cli
