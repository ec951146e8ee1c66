#pragma once
// A PriceForecast says how long it takes to measure the prices that a model lacks, before they are measured
// and while they are.
#include <chrono>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/listener.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::optimize {

class PriceForecast {
  public:
    // Counts the prices that the solvers could ask for on these graphs, of each of `costs`; measures nothing.
    // `protocol` says how long one measurement may take. Errors: those of `costs`.
    static Result<PriceForecast> make(const std::vector<graph::Graph>& graphs,
                                      const std::vector<profile::OnDemand*>& costs,
                                      const execute::TimingProtocol& protocol);

    // These return how many prices are known, how many are missing, and how long these take to measure.
    [[nodiscard]] std::size_t known() const { return known_; }
    [[nodiscard]] std::size_t missing() const { return missing_; }
    [[nodiscard]] Seconds expected() const { return expected_; }
    // These return the forecast for people, and for the member `forecast` of the result.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] Json json() const;

    // Returns how many of how many prices are measured, and how long the rest takes at their mean.
    // `measured` counts those since `begin`.
    [[nodiscard]] std::string progress(std::int64_t measured,
                                       std::chrono::steady_clock::time_point begin) const;

  private:
    std::size_t known_ = 0, missing_ = 0;
    Seconds expected_, each_;
};

// Asks `source` for every price that a solver could ask for on `graphs`. Errors: those of `source`.
Result<void> ask_for_all(const std::vector<graph::Graph>& graphs, const cost::PriceSource& source);

}  // namespace viridian::optimize
