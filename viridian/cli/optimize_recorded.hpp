#pragma once
// `optimize --recorded FILE`: the same search with prices from a file, on any machine. Nothing is timed and
// nothing is run; the plan is for the processor that the prices belong to.
#include "viridian/cli/model_session.hpp"
#include "viridian/cli/optimize_files.hpp"
#include "viridian/cli/search_options.hpp"

namespace viridian::cli {

struct RecordedJob {
    const ModelOptions& model;
    const SearchOptions& search;
    const OptimizeFiles& files;
    std::string prices;  // file
    bool record;         // also write what was asked for
    search::Objective objective;
    search::AssignOptions solver;
};

[[nodiscard]] Result<Answer> optimize_recorded(const RecordedJob& job, Progress& progress,
                                               const Interrupt& interrupt);

}  // namespace viridian::cli
