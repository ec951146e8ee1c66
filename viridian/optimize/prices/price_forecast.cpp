#include "viridian/optimize/prices/price_forecast.hpp"

#include <algorithm>

#include "viridian/base/json.hpp"

#include "viridian/base/units_text.hpp"
#include "viridian/search/assign/instance.hpp"

namespace viridian::optimize {
namespace {

// What a price takes (fitted to seven of the zoo's networks, within a factor of 2.7: docs/profile.md):
// buffers are made, filled and moved between the threads again and again. No bound: a busy machine takes
// longer.
constexpr Seconds least_each{2e-3};
constexpr double seconds_per_byte = 2.7e-9;

}  // namespace

Result<void> ask_for_all(const std::vector<graph::Graph>& graphs, const cost::PriceSource& source) {
    for (const graph::Graph& graph : graphs) {
        VIRIDIAN_TRY(search::Instance::of(graph, source));
    }
    return {};
}

Result<PriceForecast> PriceForecast::make(const std::vector<graph::Graph>& graphs,
                                          const std::vector<profile::OnDemand*>& costs,
                                          const execute::TimingProtocol& protocol) {
    PriceForecast forecast;
    double missing_bytes = 0;
    for (profile::OnDemand* one : costs) {
        profile::Survey survey;
        VIRIDIAN_TRY(ask_for_all(graphs, one->counting(survey)));
        forecast.known_ += survey.known.size();
        forecast.missing_ += survey.missing.size();
        missing_bytes += survey.missing_bytes;
    }
    const auto missing = static_cast<double>(forecast.missing());
    forecast.expected_ =
        std::min(missing * least_each + Seconds(missing_bytes * seconds_per_byte), missing * protocol.budget);
    forecast.each_ = missing > 0 ? forecast.expected_ / missing : Seconds(0);
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

}  // namespace viridian::optimize
