#pragma once
// Opens the parts of a session: the model with its sizes bound, the device, the cost database.
#include <memory>

#include "viridian/base/listener.hpp"
#include "viridian/cost/database.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/prove/reference_cache.hpp"

namespace viridian::session {

// ModelOptions are what the user says about a model and its device.
struct ModelOptions {
    std::string model;                    // an .onnx file
    std::vector<std::string> dimensions;  // "N=8" binds the symbolic dimension N
    std::int64_t batch = 0;               // binds the inputs' first dimension; 0: as the model says
    int threads = 0;                      // 0: one per physical core
    bool pin = false;                     // one thread per core, for steadier timings
    std::string database;                 // the cost database's file; "" keeps prices in memory only
    std::vector<std::string> allow;       // precisions beyond f32: "bf16"
    std::string as;                       // "f32" widens f16, bf16 and quantised parts; "": as the model says
    std::string meter;                    // name of the energy meter; "": the best there is
};

// Binds symbolic dimensions by `dimensions`, such as "N=8", then the first dimension of the inputs to
// `batch`, unless that is 0. Errors: invalid_argument, missing_entry.
[[nodiscard]] Result<void> bind_sizes(graph::Graph& graph, const std::vector<std::string>& dimensions,
                                      std::int64_t batch);

// Reads the model, binds its dimensions and infers all types. If `as` is set, the model is then widened
// (as_f32.hpp), and `listener`, which may be null, is told how. Errors: those of reading, of bind_sizes and
// of type inference; unsupported for a model without outputs; missing_entry for a dimension that is not
// bound, with the option that would bind it.
[[nodiscard]] Result<graph::Graph> load_model(const ModelOptions& options, Listener* listener = nullptr);

// Makes the processor a device with these options. Errors: those of make_cpu_device.
[[nodiscard]] Result<std::unique_ptr<execute::Device>> open_device(const ModelOptions& options);
// Opens the cost database. Errors: those of Database::open.
[[nodiscard]] Result<cost::Database> open_database(const ModelOptions& options);
// Returns the cache of outputs of the reference kernels. It lies beside the database, and keeps nothing
// without one.
[[nodiscard]] prove::ReferenceCache reference_cache(const ModelOptions& options);
[[nodiscard]] bool allows_bf16(const ModelOptions& options);
[[nodiscard]] std::string allowances_text(const ModelOptions& options);  // "f32" or "f32,bf16"

}  // namespace viridian::session
