#pragma once
// What every command on a model shares: options, loading, the device and its costs.
#include <memory>

#include "viridian/cli/command.hpp"
#include "viridian/cli/reference_cache.hpp"
#include "viridian/cost/database.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/graph/graph.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::cli {

struct ModelOptions {
    std::string model;
    std::vector<std::string> dimensions;  // "N=8"
    std::int64_t batch = 0;               // 0: as the model says
    int threads = 0;                      // 0: physical cores
    bool no_pin = false;
    std::string database;            // "": the user's cache folder
    std::vector<std::string> allow;  // "bf16"
    std::string meter;               // "": the best there is
};

// MODEL, --dim, --batch, --threads.
void add_model_options(CLI::App& app, ModelOptions& options);
// --db, --allow, --meter, --no-pin.
void add_cost_options(CLI::App& app, ModelOptions& options);

// Binds --dim, then --batch. Errors: invalid_argument, missing_entry.
[[nodiscard]] Result<void> bind_sizes(graph::Graph& graph, const std::vector<std::string>& dimensions,
                                      std::int64_t batch);

// Reads the model, binds its dimensions, folds what is constant. Errors: the reader's; missing_entry for a
// dimension that is not bound, with the option that would bind it.
[[nodiscard]] Result<graph::Graph> load_model(const ModelOptions& options);

[[nodiscard]] Result<std::unique_ptr<execute::Device>> open_device(const ModelOptions& options);
[[nodiscard]] Result<cost::Database> open_database(const ModelOptions& options);
// The database's file, and where outputs of the reference kernels are kept beside it.
[[nodiscard]] Path database_path(const ModelOptions& options);
[[nodiscard]] ReferenceCache reference_cache(const ModelOptions& options);
[[nodiscard]] bool allows_bf16(const ModelOptions& options);
[[nodiscard]] std::string allowances_text(const ModelOptions& options);

}  // namespace viridian::cli
