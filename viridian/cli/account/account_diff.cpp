// `viridian account diff A B [C...]`
#include <memory>

#include "viridian/account/products/compare.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/account/account.hpp"

namespace viridian::cli {
namespace {

struct AccountDiffOptions {
    std::vector<std::string> results;
    std::string output;
    std::size_t top = 15;
};

using Footprint = std::vector<account::FootprintRow>;

Footprint mean_of(const std::vector<Footprint>& runs) {
    return runs.size() == 1 ? runs[0] : account::mean_footprint(runs);
}

// Every experiment against every other: Figures 8 and 9. A row's difference is the row less the column.
Json matrices(const std::vector<std::string>& names, const std::vector<Footprint>& all) {
    Json out = {{"names", names}};
    for (const char* key :
         {"energy_correlation", "power_correlation", "mean_energy_difference", "mean_power_difference"})
        out[key] = Json::array();
    for (std::size_t row = 0; row < all.size(); ++row) {
        Json pcc_energy = Json::array(), pcc_power = Json::array(), med_energy = Json::array(),
             med_power = Json::array();
        for (std::size_t column = 0; column < all.size(); ++column) {
            const account::Comparison one = account::compare(all[column], all[row]);
            pcc_energy.push_back(one.energy_correlation);
            pcc_power.push_back(one.power_correlation);
            med_energy.push_back(one.energy_difference.value);
            med_power.push_back(one.power_difference.value);
        }
        out["energy_correlation"].push_back(std::move(pcc_energy));
        out["power_correlation"].push_back(std::move(pcc_power));
        out["mean_energy_difference"].push_back(std::move(med_energy));
        out["mean_power_difference"].push_back(std::move(med_power));
    }
    return out;
}

struct Experiments {
    std::vector<std::string> places, names;  // as given, as called
    std::vector<std::vector<Footprint>> runs;
    std::vector<Footprint> means;  // over the runs of each
};

Result<Experiments> load_experiments(const std::vector<std::string>& places) {
    Experiments out{places, {}, {}, {}};
    for (const std::string& where : places) {
        VIRIDIAN_TRY(const Experiment experiment, load_experiment(where));
        std::vector<Footprint> footprints;
        for (const account::Accounting& one : experiment.runs)
            footprints.push_back(account::summarized_footprint(one));
        out.means.push_back(mean_of(footprints));
        out.names.push_back(experiment.name);
        out.runs.push_back(std::move(footprints));
    }
    return out;
}

// The second experiment against the first, in numbers and name by name.
Answer compare_two(const Experiments& all, std::size_t top) {
    const account::Comparison two = account::compare(all.means[0], all.means[1]);
    Answer answer;
    answer.json = {{"schema", "viridian.account-diff/1"},
                   {"experiments", all.places},
                   {"runs", Json::array()},
                   {"energy_correlation", two.energy_correlation},
                   {"power_correlation", two.power_correlation},
                   {"mean_energy_difference", two.energy_difference.value},
                   {"mean_power_difference", two.power_difference.value},
                   {"common", two.common},
                   {"only_first", two.only_first},
                   {"only_second", two.only_second},
                   {"totals", {two.total_first.value, two.total_second.value}},
                   {"changes", Json::array()},
                   {"stability", Json::array()},
                   {"matrix", matrices(all.names, all.means)}};
    for (const auto& runs : all.runs) answer.json["runs"].push_back(runs.size());
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
        if (i < top)
            answer.text += fmt::format("{:>12.4g} {:>12.4g} {:>+12.4g}  {}\n", change.before.value,
                                       change.after.value, (change.after - change.before).value, change.name);
    }
    return answer;
}

// Stability (SMARAGDINE §5.4.2): the correlation of every pair of experiments.
void add_stability(const Experiments& all, Answer& answer) {
    for (std::size_t i = 0; i < all.places.size(); ++i)
        for (std::size_t j = i + 1; j < all.places.size(); ++j) {
            const double pcc = answer.json["matrix"]["energy_correlation"][i][j];
            answer.json["stability"].push_back(
                {{"first", all.places[i]}, {"second", all.places[j]}, {"pcc", pcc}});
            if (all.places.size() > 2)
                answer.text += fmt::format("PCC {:.4f}  {}  {}\n", pcc, all.places[i], all.places[j]);
        }
}

// ASSW (SMARAGDINE §5.4.1): the mean of the first n experiments against the first (the paper's axis) and
// against the mean of all.
void add_widening(const Experiments& all, Answer& answer) {
    answer.json["assw"] = Json::array();
    std::vector<Footprint> every;
    for (const auto& one : all.runs) every.insert(every.end(), one.begin(), one.end());
    const Footprint whole = mean_of(every);
    std::vector<Footprint> wider;
    for (std::size_t n = 1; n <= all.runs.size(); ++n) {
        wider.insert(wider.end(), all.runs[n - 1].begin(), all.runs[n - 1].end());
        const Footprint mean = mean_of(wider);
        const double to_first = account::compare(mean, all.means[0]).energy_correlation;
        const double to_all = account::compare(mean, whole).energy_correlation;
        answer.json["assw"].push_back(
            {{"experiments", n}, {"runs", wider.size()}, {"assw", to_first}, {"pcc", to_all}});
        answer.text +=
            fmt::format("ASSW {:.4f}  mean of {} runs against the first experiment ({:.4f} against all)\n",
                        to_first, wider.size(), to_all);
    }
}

Result<Answer> run_account_diff(const AccountDiffOptions& options) {
    if (options.results.size() < 2)
        return fail(ErrorCode::invalid_argument, "see `viridian account diff --help`",
                    "diff needs two results or more");
    VIRIDIAN_TRY(const Experiments all, load_experiments(options.results));
    Answer answer = compare_two(all, options.top);
    add_stability(all, answer);
    if (all.runs.size() > 2) add_widening(all, answer);
    VIRIDIAN_TRY(keep_answer(answer, options.output));
    return answer;
}

}  // namespace

Action define_account_diff(App app) {
    const auto options = std::make_shared<AccountDiffOptions>();
    app.add_option("results", options->results,
                   "Results of `viridian account -o`; a folder, or a list with commas, is one experiment")
        .required();
    app.add_option("--top", options->top, "Rows of the table").capture_default_str();
    app.add_option("-o,--output", options->output,
                   "Write the result to FILE.json and its page to FILE.html; the ending may be left out");
    return [options] { return run_account_diff(*options); };
}

}  // namespace viridian::cli
