// `viridian account diff A B [C...]`
#include <memory>

#include "viridian/account/compare.hpp"
#include "viridian/cli/account.hpp"

namespace viridian::cli {
namespace {

struct Options {
    std::vector<std::string> results;
    std::size_t top = 15;
};

Result<Answer> run(const Options& options) {
    if (options.results.size() < 2)
        return fail(ErrorCode::invalid_argument, "see `viridian account diff --help`",
                    "diff needs two results or more");
    std::vector<std::vector<account::Entry>> runs;
    for (const std::string& path : options.results) {
        VIRIDIAN_TRY(const account::Accounting accounting, load_accounting(path));
        runs.push_back(account::summarized_footprint(accounting));
    }
    const account::Comparison two = account::compare(runs[0], runs[1]);
    Answer answer;
    answer.json = {{"schema", "viridian.account-diff/1"},
                   {"energy_correlation", two.energy_correlation},
                   {"power_correlation", two.power_correlation},
                   {"mean_energy_difference", two.energy_difference.value},
                   {"mean_power_difference", two.power_difference.value},
                   {"common", two.common},
                   {"only_first", two.only_first},
                   {"only_second", two.only_second},
                   {"totals", {two.total_first.value, two.total_second.value}},
                   {"changes", Json::array()},
                   {"stability", Json::array()}};
    answer.text =
        fmt::format("{:.6g} J -> {:.6g} J ({:+.2f} %)\n", two.total_first.value, two.total_second.value,
                    two.total_first.value > 0 ? 100.0 * (two.total_second / two.total_first - 1.0) : 0.0);
    answer.text += fmt::format(
        "PCC energy {:.4f}, power {:.4f}; MED {:+.4g} J, {:+.4g} W over {} common names ({} only first, {} "
        "only second)\n",
        two.energy_correlation, two.power_correlation, two.energy_difference.value,
        two.power_difference.value, two.common, two.only_first, two.only_second);
    answer.text += fmt::format("{:>12} {:>12} {:>12}  {}\n", "first J", "second J", "change J", "name");
    for (std::size_t i = 0; i < two.changes.size(); ++i) {
        const account::Change& change = two.changes[i];
        answer.json["changes"].push_back(
            {{"name", change.name}, {"before", change.before.value}, {"after", change.after.value}});
        if (i < options.top)
            answer.text += fmt::format("{:>12.4g} {:>12.4g} {:>+12.4g}  {}\n", change.before.value,
                                       change.after.value, (change.after - change.before).value, change.name);
    }
    // Stability (§5.4.2): every pair; ASSW (§5.4.1): the mean of the first n runs against the mean of all.
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (std::size_t j = i + 1; j < runs.size(); ++j) {
            const double pcc = account::compare(runs[i], runs[j]).energy_correlation;
            answer.json["stability"].push_back(
                {{"first", options.results[i]}, {"second", options.results[j]}, {"pcc", pcc}});
            if (runs.size() > 2)
                answer.text +=
                    fmt::format("PCC {:.4f}  {}  {}\n", pcc, options.results[i], options.results[j]);
        }
    if (runs.size() > 2) {
        const auto whole = account::mean_footprint(runs);
        answer.json["assw"] = Json::array();
        for (std::size_t n = 1; n <= runs.size(); ++n) {
            const std::vector<std::vector<account::Entry>> first(
                runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(n));
            const double pcc = account::compare(account::mean_footprint(first), whole).energy_correlation;
            answer.json["assw"].push_back({{"runs", n}, {"pcc", pcc}});
            answer.text += fmt::format("ASSW {:.4f}  mean of {} runs against all\n", pcc, n);
        }
    }
    return answer;
}

}  // namespace

AccountAction define_account_diff(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("results", options->results, "Results of `viridian account -o`")->required();
    app.add_option("--top", options->top, "Rows of the table")->capture_default_str();
    return [options] { return run(*options); };
}

}  // namespace viridian::cli
