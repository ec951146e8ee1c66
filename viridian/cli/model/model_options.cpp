#include "viridian/cli/model/model_options.hpp"

#include <cstdlib>

#include "viridian/cli/meter/meter_paths.hpp"

namespace viridian::cli {
namespace {

Path cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') return cache;
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return Path(home) / ".cache";
    return ".";
}

}  // namespace

std::string default_database() { return (cache_folder() / "viridian" / "cost.db").string(); }

void add_model_options(App app, ModelOptions& options, bool makes_steps) {
    options.pin = true;  // steadier timings; a program that links the library chooses for itself
    options.database = default_database();
    app.add_option("MODEL", options.model, "An .onnx file").required();
    app.add_option("--dim", options.dimensions,
                   "Bind a symbolic dimension, as N=8; may be given several times");
    app.add_option("--batch", options.batch, "Bind the inputs' first dimension")
        .check(in_range(std::int64_t{1}, std::int64_t{1} << 20));
    const std::string memory = fmt::format(
        "Memory that a run may need, as 4GiB; {}what needs more is refused before it is allocated (default: "
        "three quarters of what is free)",
        makes_steps ? "the training step computes activations again if that makes it fit, and " : "");
    app.add_option("--memory", options.memory, memory);
    app.add_option(
           "--threads", options.threads,
           "Threads (default: VIRIDIAN_THREADS, else OMP_NUM_THREADS, else the cores this process may use)")
        .check(in_range(1, 1024));
}

void add_type_option(App app, ModelOptions& options) {
    app.add_option("--as", options.as,
                   "Read the model as f32, because f16, bf16 and quantised integers have only slow kernels")
        .check(one_of({"f32"}));
}

void add_cost_options(App app, ModelOptions& options) {
    options.meter_paths = meter_paths();
    app.add_option("--db", options.database, "Cost database (default: ~/.cache/viridian/cost.db)");
    app.add_option("--allow", options.allow, "Lower precisions that the plan may use: bf16")
        .check(one_of({"bf16"}));
    app.add_flag("--exact-arithmetic", options.exact_arithmetic,
                 "Use no kernels that multiply less and round otherwise (Winograd, Strassen)");
    app.add_option("--meter", options.meter,
                   "Energy meter (default: the best that works here; `model` estimates)");
    app.add_option("--idle-power", options.idle_power,
                   "Idle power that an estimate counts: `whole`, that of the machine; `share`, that of the "
                   "cores kept busy, for machines that others use too")
        .check(one_of({"share", "whole"}))
        .capture_default_str();
    app.add_flag(
        "!--no-pin", options.pin,
        "Leave threads to the system's scheduler (default: one per core, the first that this process "
        "may use)");
}

}  // namespace viridian::cli
