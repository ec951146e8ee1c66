#pragma once
// `optimize --recorded FILE`: the same search with prices from a file, on any machine. Nothing is timed and
// nothing is run; the plan is for the processor that the prices belong to.
#include "viridian/cli/model_session.hpp"
#include "viridian/cli/search_options.hpp"

namespace viridian::cli {

struct RecordedJob {
    const ModelOptions& model;
    const SearchOptions& search;
    std::string output;
    std::string prices;  // file
    std::string record;  // file to write what was asked for, or ""
    search::Objective objective;
    search::AssignOptions solver;
};

[[nodiscard]] Result<Answer> optimize_recorded(const RecordedJob& job, Progress& progress,
                                               const Interrupt& interrupt);

}  // namespace viridian::cli
