#include "viridian/cli/model/model_options.hpp"

#include <cstdlib>

namespace viridian::cli {
namespace {

Path cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') return cache;
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return Path(home) / ".cache";
    return ".";
}

}  // namespace

void add_model_options(App app, ModelOptions& options) {
    options.pin = true;  // steadier timings; a program that links the library chooses for itself
    options.database = (cache_folder() / "viridian" / "cost.db").string();
    app.add_option("MODEL", options.model, "An .onnx file").required();
    app.add_option("--dim", options.dimensions,
                   "Bind a symbolic dimension, as N=8; may be given several times");
    app.add_option("--batch", options.batch, "Bind the inputs' first dimension")
        .check(in_range(std::int64_t{1}, std::int64_t{1} << 20));
    app.add_option("--as", options.as,
                   "Take the model in f32: what it computes in f16, bf16 or quantised integers has only slow "
                   "kernels")
        .check(one_of({"f32"}));
    app.add_option("--threads", options.threads, "Threads (default: physical cores)")
        .check(in_range(1, 1024));
}

void add_cost_options(App app, ModelOptions& options) {
    app.add_option("--db", options.database, "Cost database (default: ~/.cache/viridian/cost.db)");
    app.add_option("--allow", options.allow, "Precisions beyond f32: bf16").check(one_of({"bf16"}));
    app.add_option("--meter", options.meter,
                   "Energy meter (default: the best that works here; `model` estimates)");
    app.add_flag(
        "!--no-pin", options.pin,
        "Leave threads to the system's scheduler (default: one per core, the first that this process "
        "may use)");
}

}  // namespace viridian::cli
