#pragma once
// The parts of `viridian account`: one subcommand a file.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"
#include "viridian/cli/subcommands.hpp"

namespace viridian::cli {

Action define_account_run(CLI::App& app);
Action define_account_selftest(CLI::App& app);
Action define_account_diff(CLI::App& app);

Action define_account_top(CLI::App& app);
Action define_account_epochs(CLI::App& app);
Action define_account_overhead(CLI::App& app);

[[nodiscard]] Result<account::Accounting> load_accounting(const std::string& path);

// An experiment: one result, several (`a.json,b.json`), or a folder's results (its .json files with the
// accounting schema, by name). Errors: those of reading; missing_entry (a folder without any).
struct Experiment {
    std::string name;
    std::vector<account::Accounting> runs;
};
[[nodiscard]] Result<Experiment> load_experiment(const std::string& where);

// A result as JSON with its products (summary, diagram, passes), and as text.
[[nodiscard]] Answer account_answer(const account::Accounting& result, std::size_t top);

// Writes `answer.json` to `file` (unless empty) and the page beside it, and says so.
[[nodiscard]] Result<void> keep_answer(Answer& answer, const std::string& file);

}  // namespace viridian::cli
