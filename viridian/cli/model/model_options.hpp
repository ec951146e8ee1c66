#pragma once
// Declares the options that commands on a model share. Each function adds options to a command; their values
// are stored in `options`, which must outlive parsing.
#include "viridian/cli/command.hpp"
#include "viridian/session/open.hpp"

namespace viridian::cli {

using session::ModelOptions;

// Returns the path of the cost database in the user's cache folder.
[[nodiscard]] std::string default_database();

// Adds MODEL, --dim, --batch, --memory and --threads, and sets the path of the cost database to the user's
// cache folder. `--memory` of a command that writes or runs training steps also says that steps are made to
// fit.
void add_model_options(App app, ModelOptions& options, bool makes_steps = false);
// Adds --as.
void add_type_option(App app, ModelOptions& options);
// Adds --db, --allow, --exact-arithmetic, --meter and --no-pin.
void add_cost_options(App app, ModelOptions& options);

}  // namespace viridian::cli
