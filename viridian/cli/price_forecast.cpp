#include "viridian/cli/price_forecast.hpp"

#include <algorithm>

#include "viridian/cli/units_text.hpp"
#include "viridian/search/instance.hpp"

namespace viridian::cli {
namespace {

// Of the protocol's budget: a price took 5 to 20 ms on the zoo's networks (docs/profile.md). No bound: a
// kernel that is slow itself, or a busy machine, takes longer.
constexpr double usual_share = 0.06;

}  // namespace

Result<void> ask_for_all(const std::vector<graph::Graph>& graphs, const cost::Source& source) {
    for (const graph::Graph& graph : graphs) {
        VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
        VIRIDIAN_TRY(search::Instance::make(graph, regions, source));
    }
    return {};
}

Result<PriceForecast> PriceForecast::make(const std::vector<graph::Graph>& graphs, profile::OnDemand& costs,
                                          const execute::TimingProtocol& protocol) {
    PriceForecast forecast;
    VIRIDIAN_TRY(ask_for_all(graphs, costs.counting(forecast.survey_)));
    const auto missing = static_cast<double>(forecast.missing());
    forecast.each_ = usual_share * protocol.budget;
    forecast.expected_ = missing * forecast.each_;
    return forecast;
}

std::string PriceForecast::text() const {
    if (missing() == 0) return fmt::format("all {} prices are known", known());
    return fmt::format("{} prices known, {} to measure: expected {}, at {} each", known(), missing(),
                       quantity(expected_.value, "s"), quantity(each_.value, "s"));
}

Json PriceForecast::json() const {
    return {{"known", known()}, {"missing", missing()}, {"expected_seconds", expected_.value}};
}

std::string PriceForecast::progress(std::int64_t measured,
                                    std::chrono::steady_clock::time_point begin) const {
    const auto done = static_cast<double>(measured);
    if (measured <= 0 || done > static_cast<double>(missing())) return fmt::format("{} measured", measured);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return fmt::format(
        "{} of {}, {} left", measured, missing(),
        quantity(std::max(seconds / done * (static_cast<double>(missing()) - done), 0.0), "s"));
}

}  // namespace viridian::cli
