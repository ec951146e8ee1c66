#pragma once
// Opens the parts of a session: the model with its sizes bound, the device, the cost database.
#include <memory>

#include "viridian/base/listener.hpp"
#include "viridian/cost/database.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/profile/energy.hpp"
#include "viridian/prove/reference_cache.hpp"

namespace viridian::session {

// ModelOptions are what the user says about a model and its device.
struct ModelOptions {
    std::string model;                    // an .onnx file
    std::vector<std::string> dimensions;  // "N=8" binds the symbolic dimension N
    std::int64_t batch = 0;               // binds the inputs' first dimension; 0: as the model says
    int threads = 0;                      // 0: default_threads()
    bool pin = false;                     // one thread per core, for steadier timings
    std::string database;                 // the cost database's file; "" keeps prices in memory only
    std::vector<std::string> allow;       // precisions beyond f32: "bf16"
    std::string memory;                   // what a run may need, "4GiB"; "": three quarters of what is free
    bool runs = true;                     // false: the model is only looked at, so its size does not matter
    bool exact_arithmetic = false;        // no kernel by minimal filtering (Winograd) or Strassen
    std::string as;                       // "f32" widens f16, bf16 and quantised parts; "": as the model says
    std::string meter;                    // name of the energy meter; "": the best there is
    meter::MeterPaths meter_paths;        // where meters look
    std::string idle_power = "whole";     // that estimates charge: "whole" or "share" (cost::IdlePower)
};

// Binds symbolic dimensions by `dimensions`, such as "N=8", then the first dimension of the inputs to
// `batch`, unless that is 0. Errors: invalid_argument, missing_entry.
[[nodiscard]] Result<void> bind_sizes(graph::Graph& graph, const std::vector<std::string>& dimensions,
                                      std::int64_t batch);

// Checks that a run of `graph` does not need more memory than `options.memory` allows, before anything is
// allocated: a small file may declare huge tensors. Errors: limit_exceeded (more than `memory` allows, or a
// tensor beyond 16 TiB), out_of_memory (more than three quarters of what is free), invalid_argument (`memory`
// is no size).
[[nodiscard]] Result<void> check_memory(const graph::Graph& graph, const ModelOptions& options);
// Returns what `options.memory` leaves for values whose size is known only while `graph` runs
// (graph/reference/memory_budget.hpp). Returns nothing without `memory`. Errors: limit_exceeded (a tensor
// beyond 16 TiB), invalid_argument (`memory` is no size).
[[nodiscard]] Result<std::optional<Bytes>> memory_left(const graph::Graph& graph,
                                                       const ModelOptions& options);
// Returns how much memory a run is allowed to use: `options.memory`, or three quarters of what is free.
// Errors: invalid_argument
// (`memory` is no size).
[[nodiscard]] Result<Bytes> allowed_memory(const ModelOptions& options);
// Checks that a run that needs so much may take place. Errors: those of allowed_memory(); limit_exceeded or
// out_of_memory, as check_memory above.
[[nodiscard]] Result<void> check_need(Bytes needed, const ModelOptions& options);
// Returns what a run by `plan` needs, whose buffers share memory and may be padded, with what its kernels
// need besides. Errors: limit_exceeded (a tensor beyond 16 TiB).
[[nodiscard]] Result<Bytes> memory_need(const graph::Graph& graph, const plan::Plan& plan);
// Does the same as check_memory above for a run by `plan`. Errors: the same.
[[nodiscard]] Result<void> check_memory(const graph::Graph& graph, const plan::Plan& plan,
                                        const ModelOptions& options);

// Reads the model, binds its dimensions and infers all types. If `as` is set, the model is then widened
// (as_f32.hpp), and `listener`, which may be null, is told how. Errors: those of reading, of bind_sizes and
// of type inference; unsupported for a model without outputs; missing_entry for a dimension that is not
// bound, with the option that would bind it; those of check_memory, unless `runs` is false.
[[nodiscard]] Result<graph::Graph> load_model(const ModelOptions& options, Listener* listener = nullptr);

// Makes the processor a device with these options. Errors: those of make_cpu_device.
[[nodiscard]] Result<std::unique_ptr<execute::Device>> open_device(const ModelOptions& options);
// Opens the cost database. Errors: those of Database::open.
[[nodiscard]] Result<cost::Database> open_database(const ModelOptions& options);
// Returns the cache of outputs of the reference kernels. It lies beside the database, and keeps nothing
// without one.
[[nodiscard]] prove::ReferenceCache reference_cache(const ModelOptions& options);
// Returns where joules come from.
[[nodiscard]] profile::EnergyOptions energy_options(const ModelOptions& options);
[[nodiscard]] bool allows_bf16(const ModelOptions& options);
// Names what kernels may do, as lists of choices are stored: "f32", "f32,bf16", "f32,exact".
[[nodiscard]] std::string allowances_text(const ModelOptions& options);

}  // namespace viridian::session
