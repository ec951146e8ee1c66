#include "viridian/optimize/prices/price_forecast.hpp"

#include <algorithm>

#include "viridian/base/json.hpp"

#include "viridian/base/units_text.hpp"
#include "viridian/search/assign/instance.hpp"

namespace viridian::optimize {
namespace {

// What a price takes (fitted to seven of the zoo's networks, within a factor of 2.7: docs/profile.md):
// buffers are made, filled and moved between the threads again and again. No upper bound: a busy machine
// takes longer.
constexpr Seconds least_each{2e-3};
constexpr double seconds_per_byte = 2.7e-9;
// A kernel whose runs exceed the budget is run `at_least` times all the same. What a run takes is a rough
// figure: 100 Gflop/s and 10 GB/s.
constexpr double run_seconds_per_flop = 1e-11, run_seconds_per_byte = 1e-10;

Seconds expected_of(const profile::Work& work, const execute::TimingProtocol& protocol) {
    const Seconds each = least_each + Seconds(work.bytes * seconds_per_byte);
    const Seconds run(work.flop * run_seconds_per_flop + work.bytes * run_seconds_per_byte);
    const auto runs = static_cast<double>(protocol.at_least + 1);  // the first does not count
    return std::max(std::min(each, protocol.budget), run * runs);
}

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
    for (profile::OnDemand* one : costs) {
        profile::Survey survey;
        VIRIDIAN_TRY(ask_for_all(graphs, one->counting(survey)));
        forecast.known_ += survey.known.size();
        forecast.missing_ += survey.missing.size();
        for (const auto& [price, work] : survey.missing) forecast.expected_ += expected_of(work, protocol);
    }
    if (forecast.missing() > 0) forecast.each_ = forecast.expected_ / static_cast<double>(forecast.missing());
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
