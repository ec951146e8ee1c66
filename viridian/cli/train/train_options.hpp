#pragma once
// Declares the options of `viridian train`.
#include <map>
#include <optional>

#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/train/data_options.hpp"
#include "viridian/cli/train/step_options.hpp"

namespace viridian::cli {

// TrainOptions holds the options as they are typed.
struct TrainOptions {
    ModelOptions model;
    StepChoice step;
    DataChoice data;
    std::string output;
    double rate = 1e-3;
    std::string schedule = "constant";
    std::int64_t epochs = 1;
    std::uint64_t seed = 0;
    bool in_order = false;
    std::int64_t accumulate = 1;  // batches of a step
    std::vector<std::string> metrics;
    // The first weights.
    std::optional<std::int64_t> initialise;  // the seed
    std::string initialise_as = "pytorch";
    std::int64_t head = 0;            // classes of a new last layer; 0: the model's own
    bool tune = false;                // choose the kernels of the step by their measured times
    std::optional<double> max_error;  // relative L2, with bf16; none: the defaults of `optimize`
    // What the run keeps, and when it ends.
    std::optional<double> average;  // decay of the moving average of weights
    int patience = 0;               // evaluations; 0: no early stop
    double least_gain = 0;
    std::string exported;     // "best" or "last"; "": best with an early stop
    std::string checkpoints;  // folder
    std::int64_t every = 0;
    int keep = 3;
    bool resume = false;
    bool changed_data = false;  // of a resumed run
    std::string log;            // JSON lines
    std::string tensorboard;    // folder
    std::string record;         // folder
    std::string html;
    // Instead of training.
    bool rate_finder = false;
    std::vector<double> rate_range;  // lowest, highest
    std::int64_t rate_steps = 100;
};

// Returns whether the run leaves the weights of its best evaluation behind.
[[nodiscard]] inline bool exports_best(const TrainOptions& options) {
    return options.exported.empty() ? options.patience > 0 : options.exported == "best";
}

// Adds the options to a command; their values are stored in `options`, which must outlive parsing.
void add_train_options(App app, TrainOptions& options);

// Returns the options that a resumed run must repeat, because its result depends on them, as typed; "" if one
// is not given. Samples are compared by content instead of by the names of their files. `follows_length`: the
// rates of the schedule depend on the number of epochs, which must then be repeated too.
[[nodiscard]] std::map<std::string, std::string> written(const TrainOptions& options, bool follows_length);

}  // namespace viridian::cli
