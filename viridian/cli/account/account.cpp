#include "viridian/cli/account/account.hpp"

#include "viridian/base/json.hpp"
#include "viridian/base/output_paths.hpp"
#include "viridian/cli/natural_order.hpp"

#include <algorithm>

#include "viridian/cli/command.hpp"
#include "viridian/report/page.hpp"

namespace viridian::cli {

Command account_command() {
    return {"account", "Joules per operation, layer and module, from anybody's trace and power log",
            "viridian account run1 -o run1/account\n"
            "  viridian account --trace trace.json.gz --power power.csv --by module --depth 2",
            [](App app) {
                return choose(
                    app,
                    {{"selftest", "Every sensor and method against known ground truth",
                      "viridian account selftest --scenario calm --seeds 3", define_account_selftest},
                     {"diff", "Compares results or experiments: PCC, MED, stability, what changed most",
                      "viridian account diff before.json after.json", define_account_diff},
                     {"top", "Largest consumers over several runs, with their spread",
                      "viridian account top run1.json run2.json run3.json", define_account_top},
                     {"epochs", "Power over the time of an epoch, averaged over all epochs",
                      "viridian account epochs --trace run1/torch.json.gz --power run1/power.csv",
                      define_account_epochs},
                     {"overhead", "What recording costs: a program with and without it",
                      "viridian account overhead --runs 5 -- python3 train.py", define_account_overhead}},
                    define_account_run(app));
            }};
}

Result<account::Accounting> load_accounting(const std::string& path) {
    VIRIDIAN_TRY(const std::string text, read_file(path));
    VIRIDIAN_TRY(const Json json, parse_json(text, path));
    return account::accounting_from_json(json, path);
}

Result<Experiment> load_experiment(const std::string& where) {
    Experiment out{Path(where).filename().string(), {}};
    if (std::filesystem::is_directory(where)) {
        std::vector<Path> files;
        for (const auto& entry : std::filesystem::directory_iterator(where))
            if (entry.path().extension() == ".json") files.push_back(entry.path());
        std::ranges::sort(files, natural_less, [](const Path& file) { return file.string(); });
        for (const Path& file : files)
            if (auto run = load_accounting(file.string()); run.ok())
                out.runs.push_back(std::move(run).value());
            else if (run.error().code != ErrorCode::mismatch)
                return std::move(run).error();
        if (out.name.empty()) out.name = Path(where).parent_path().filename().string();
        if (out.runs.empty())
            return fail(ErrorCode::missing_entry, "write results with `viridian account -o FILE.json`",
                        "the folder `{}` holds no accounting result", where);
        return out;
    }
    for (std::size_t at = 0; at <= where.size();) {
        const std::size_t comma = std::min(where.find(',', at), where.size());
        VIRIDIAN_TRY(account::Accounting run, load_accounting(where.substr(at, comma - at)));
        out.runs.push_back(std::move(run));
        at = comma + 1;
    }
    if (out.runs.size() > 1)
        out.name = fmt::format("{} ({} runs)", Path(where.substr(0, where.find(','))).filename().string(),
                               out.runs.size());
    return out;
}

Result<void> keep_answer(Answer& answer, const std::string& file, const std::vector<Path>& reads) {
    if (file.empty()) return {};
    const bool ends = file.ends_with(".json") || file.ends_with(".html");
    std::error_code fault;
    const bool special =
        std::filesystem::exists(file, fault) && !std::filesystem::is_regular_file(file, fault);
    const bool has_page = ends || (!Path(file).has_extension() && !special);
    const std::string stem = ends ? file.substr(0, file.size() - 5) : file;
    const std::string result_file = has_page ? stem + ".json" : file;
    VIRIDIAN_TRY(check_replaces_nothing({result_file, has_page ? stem + ".html" : ""}, reads));
    VIRIDIAN_TRY(write_file(result_file, json_dump(answer.json, 1) + "\n"));
    answer.text += fmt::format("wrote {}\n", result_file);
    if (!has_page) return {};
    VIRIDIAN_TRY(const std::string page, report::page(answer.json));
    VIRIDIAN_TRY(write_file(stem + ".html", page));
    answer.text += fmt::format("wrote {}.html\n", stem);
    return {};
}

}  // namespace viridian::cli
