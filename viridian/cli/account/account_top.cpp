// `viridian account top RUN...`
#include <algorithm>
#include <memory>
#include <set>

#include "viridian/account/products/repeated_runs.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/account/account.hpp"

namespace viridian::cli {
namespace {

struct AccountTopOptions {
    std::vector<std::string> results;
    std::string output;
    std::size_t top = 10;
};

Json energy_json(const account::Spread& joules, const Provenance& provenance) {
    return to_json(Energy{Joules(joules.mean), Joules(joules.mean - joules.deviation),
                          Joules(joules.mean + joules.deviation), provenance});
}

// The part of the names of the larger result that the other has too.
double names_in_common(const account::Accounting& a, const account::Accounting& b) {
    const auto names_of_run = [](const account::Accounting& run) {
        std::set<std::string> names;
        for (const account::Operation& operation : run.operations) names.insert(operation.name);
        return names;
    };
    const std::set<std::string> one = names_of_run(a), other = names_of_run(b);
    const auto shared =
        std::ranges::count_if(one, [&](const std::string& name) { return other.contains(name); });
    return static_cast<double>(shared) /
           static_cast<double>(std::max({one.size(), other.size(), std::size_t{1}}));
}

Result<Answer> run_account_top(const AccountTopOptions& options) {
    std::vector<account::Accounting> runs;
    for (const std::string& where : options.results) {
        VIRIDIAN_TRY(Experiment experiment, load_experiment(where));
        for (account::Accounting& one : experiment.runs) runs.push_back(std::move(one));
    }
    const account::RepeatedRuns got = account::repeated_runs(runs);
    Answer answer;
    answer.json = {{"schema", "viridian.account-top/1"},
                   {"runs", runs.size()},
                   {"whiskers", "standard deviation over runs"},
                   {"total", energy_json(got.total, got.provenance)},
                   {"forward", energy_json(got.forward, got.provenance)},
                   {"backward", energy_json(got.backward, got.provenance)},
                   {"neither", energy_json(got.unknown, got.provenance)},
                   {"idle", energy_json(got.idle, got.provenance)},
                   {"names", got.entries.size()},
                   {"entries", Json::array()},
                   {"warnings", Json::array()}};
    if (runs.size() < account::enough_runs)
        answer.json["warnings"].push_back(fmt::format("{}: the spread of fewer than {} says little",
                                                      counted(runs.size(), "run"), account::enough_runs));
    for (std::size_t i = 1; i < runs.size(); ++i)
        if (const double common = names_in_common(runs[0], runs[i]); common < 0.5) {
            answer.json["warnings"].push_back(fmt::format(
                "`{}` and `{}` have {:.0f} % of their names in common: they look like different programs",
                runs[0].trace, runs[i].trace, 100.0 * common));
            break;
        }
    answer.text =
        fmt::format("{:.6g} ± {:.2g} J over {} ({}); forward {:.6g}, backward {:.6g}, neither {:.6g} J\n",
                    got.total.mean, got.total.deviation, counted(runs.size(), "run"), got.provenance.text(),
                    got.forward.mean, got.backward.mean, got.unknown.mean);
    answer.text += fmt::format("{:>10} {:>9}  {:>9} {:>8}  {:>4}  {}\n", "joules", "± sd", "watts", "± sd",
                               "runs", "name");
    for (std::size_t i = 0; i < got.entries.size() && i < options.top; ++i) {
        const account::RepeatedEntry& one = got.entries[i];
        answer.json["entries"].push_back({{"name", one.name},
                                          {"joules", energy_json(one.joules, got.provenance)},
                                          {"watts", account::to_json(one.watts)},
                                          {"runs", one.runs}});
        answer.text +=
            fmt::format("{:>10.4g} {:>9.2g}  {:>9.4g} {:>8.2g}  {:>4}  {}\n", one.joules.mean,
                        one.joules.deviation, one.watts.mean, one.watts.deviation, one.runs, one.name);
    }
    for (const Json& warning : answer.json["warnings"])
        answer.text += "warning: " + warning.get<std::string>() + "\n";
    VIRIDIAN_TRY(keep_answer(answer, options.output));
    return answer;
}

}  // namespace

Action define_account_top(App app) {
    const auto options = std::make_shared<AccountTopOptions>();
    app.add_option("results", options->results, "Results of `viridian account -o`, or folders of them")
        .required();
    app.add_option("--top", options->top, "How many").capture_default_str();
    app.add_option("-o,--output", options->output,
                   "Write the result to FILE.json and its page to FILE.html; the ending may be left out");
    return [options] { return run_account_top(*options); };
}

}  // namespace viridian::cli
