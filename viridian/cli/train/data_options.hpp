#pragma once
// Declares the options that say where samples come from and how they become inputs of a network.
#include "viridian/cli/command.hpp"
#include "viridian/data/batches.hpp"
#include "viridian/data/open.hpp"

namespace viridian::cli {

// DataChoice holds the options as they are typed.
struct DataChoice {
    std::string path;
    std::string evaluation;           // a file or folder of its own
    double evaluation_share = 0;      // of the samples, drawn by the seed
    std::vector<std::string> inputs;  // "images=x": the input `images` takes the column `x`
    data::OpenOptions open;
    bool text_bytes = false;
    std::vector<std::string> masks;  // "mask=tokens", or "mask=tokens:0"
    std::vector<std::string> pads;   // "tokens=0"
    bool truncate = false;
    double scale = 1;
    std::vector<double> mean, deviation;
    double flip = 0;
    std::int64_t crop = 0;
};

// Adds the options to a command; their values are stored in `choice`, which must outlive parsing.
void add_data_options(App app, DataChoice& choice);

// Returns which column each of `inputs` takes, and how. An input takes the column that `--input` names, else
// that of its own name. `labels` takes label, y, target, targets or class too, and a network with one other
// input takes the one column that is left. An input that --mask names is made from the lengths of a column's
// rows, or from their padding. Errors: invalid_argument (an --input, --mask or --pad of another form),
// missing_entry (an input without a column, with the columns that there are).
[[nodiscard]] Result<data::BatchOptions> batch_options(const DataChoice& choice, const data::Dataset& samples,
                                                       const std::vector<data::ModelInput>& inputs,
                                                       std::uint64_t seed);

}  // namespace viridian::cli
