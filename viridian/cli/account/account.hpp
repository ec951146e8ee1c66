#pragma once
// Declares the subcommands of `viridian account`, one source file each, and what they share: reading results
// and writing answers.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"
#include "viridian/cli/subcommands.hpp"

namespace viridian::cli {

Action define_account_run(App app);
Action define_account_selftest(App app);
Action define_account_diff(App app);

Action define_account_top(App app);
Action define_account_epochs(App app);
Action define_account_overhead(App app);

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

// Writes a result as the user asked with `-o FILE`, and adds to the answer's text which files were written. A
// name that ends in .json or .html gives both the JSON and the page, as FILE.json and FILE.html; any other
// name gives the JSON alone; an empty one gives nothing. Errors: those of writing.
[[nodiscard]] Result<void> keep_answer(Answer& answer, const std::string& file);

}  // namespace viridian::cli
