#include "viridian/cli/model/residuals.hpp"

#include <set>

#include "viridian/base/system/machine.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/model/model_options.hpp"

namespace viridian::cli {
namespace {

Result<std::vector<cost::Residual>> read(const std::string& database) {
    std::error_code ignored;
    if (!std::filesystem::exists(database, ignored))
        return fail(ErrorCode::file_not_found, "run `viridian optimize` first, or choose another with --db",
                    "there is no cost database `{}`", database);
    VIRIDIAN_TRY(const cost::Database opened, cost::Database::open(database));
    return opened.residuals(this_machine().fingerprint());
}

std::string percent(Seconds expected, Seconds ran) {
    return fmt::format("{:+.1f} %", 100 * (expected / ran - 1));
}

}  // namespace

std::string text(const cost::ResidualSummary& summary) {
    return fmt::format(
        "{} {}: predicted times were {:.1f} % off in the middle, {:.1f} % at worst, {} within 10 %",
        summary.plans, summary.plans == 1 ? "plan" : "plans", 100 * summary.predicted, 100 * summary.worst,
        summary.within);
}

Result<Answer> residuals(const std::string& database) {
    VIRIDIAN_TRY(const std::vector<cost::Residual> all, read(database));
    const cost::ResidualSummary summary = cost::summarize(all);
    Answer answer;
    answer.json = {{"schema", "viridian.residuals/1"},
                   {"database", database},
                   {"plans", summary.plans},
                   {"within_10_percent", summary.within},
                   {"median_error", {{"predicted", summary.predicted}, {"kernels", summary.kernels}}},
                   {"worst_error", summary.worst},
                   {"corrections", Json::array()},
                   {"residuals", Json::array()}};
    std::set<int> counts;
    for (const cost::Residual& one : all) counts.insert(one.threads);
    std::string next;
    for (const int threads : counts) {
        const double times = cost::correction_of(all, threads);
        answer.json["corrections"].push_back({{"threads", threads}, {"times", times}});
        next += fmt::format("the next prediction on {} is the sum of its prices times {:.3f}\n",
                            counted(threads, "thread"), times);
    }
    for (const cost::Residual& one : all) {
        answer.json["residuals"].push_back({{"at", one.at},
                                            {"model", one.model},
                                            {"plan", one.plan},
                                            {"threads", one.threads},
                                            {"predicted_seconds", one.predicted.value},
                                            {"kernels_seconds", one.kernels.value},
                                            {"ran_seconds", one.ran.value},
                                            {"correction", one.correction}});
        answer.text +=
            fmt::format("{}  {:<28} {:>9}  ran {:>9}  predicted {:>9} ({})  kernels alone {:>9} ({})\n",
                        one.at, one.model, counted(one.threads, "thread"), quantity(one.ran.value, "s"),
                        quantity(one.predicted.value, "s"), percent(one.predicted, one.ran),
                        quantity(one.kernels.value, "s"), percent(one.kernels, one.ran));
    }
    answer.text += summary.plans == 0 ? "no plan was run on this machine with this database\n"
                                      : fmt::format("{}\n{}", text(summary), next);
    return answer;
}

std::optional<cost::ResidualSummary> own_residuals() {
    const auto all = read(default_database());
    if (!all.ok() || all->empty()) return std::nullopt;
    return cost::summarize(*all);
}

}  // namespace viridian::cli
