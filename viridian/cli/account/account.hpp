#pragma once
// Declares the subcommands of `viridian account`, which have one source file each, and the functions that
// they share: reading results of accounting and writing answers.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"
#include "viridian/cli/account/account_footprint.hpp"
#include "viridian/cli/subcommands.hpp"

namespace viridian::cli {

// Each of these adds the options of a subcommand to `app` and returns its action (command.hpp). The first is
// `viridian account` itself, without a subcommand.
Action define_account_run(App app);
Action define_account_selftest(App app);
Action define_account_diff(App app);

Action define_account_top(App app);
Action define_account_epochs(App app);
Action define_account_overhead(App app);

// Reads the result of accounting in the JSON file `path`. Errors: those of reading; malformed, mismatch
// (another schema).
[[nodiscard]] Result<account::Accounting> load_accounting(const std::string& path);

// An Experiment is one or several results of accounting that are treated as runs of one program.
struct Experiment {
    std::string name;  // of the file or folder
    std::vector<account::Accounting> runs;
};
// Reads the experiment `where`: a file, several files (`a.json,b.json`), or a folder, whose results are its
// .json files with the accounting schema, in the order of their names. Errors: those of load_accounting;
// missing_entry (a folder without results).
[[nodiscard]] Result<Experiment> load_experiment(const std::string& where);

// Returns `result` as JSON with its products (summary, diagram, passes, footprint), and as text with the
// table that `grouping` asks for. Errors: those of footprint_answer.
[[nodiscard]] Result<Answer> account_answer(const account::Accounting& result, const Grouping& grouping);

// Writes the JSON of `answer` to `file`, as the user asks with `-o FILE`, and adds the names of the written
// files to the answer's text. A name that ends in .json or .html, or has no ending, gives both the JSON and
// the page, as FILE.json and FILE.html; a name with another ending and a device or pipe get the JSON alone;
// an empty name gives nothing. None of the files `reads` is replaced. Errors: those of report::page, of
// writing and of check_replaces_nothing.
[[nodiscard]] Result<void> keep_answer(Answer& answer, const std::string& file,
                                       const std::vector<Path>& reads = {});

}  // namespace viridian::cli
