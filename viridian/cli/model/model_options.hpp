#pragma once
// Declares the options that every command on a model takes.
#include "viridian/cli/command.hpp"
#include "viridian/session/open.hpp"

namespace viridian::cli {

using session::ModelOptions;

// Adds MODEL, --dim, --batch, --as and --threads, and sets the cost database's place in the user's cache
// folder.
void add_model_options(App app, ModelOptions& options);
// Adds --db, --allow, --meter and --no-pin.
void add_cost_options(App app, ModelOptions& options);

}  // namespace viridian::cli
