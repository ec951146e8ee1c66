#pragma once
// Forecasts how long it takes to measure the prices that a model lacks, before they are measured and while
// they are.
#include <chrono>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/listener.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/profile/on_demand.hpp"

namespace viridian::optimize {

class PriceForecast {
  public:
    // Counts what the solvers could ask for on these graphs; measures nothing.
    static Result<PriceForecast> make(const std::vector<graph::Graph>& graphs, profile::OnDemand& costs,
                                      const execute::TimingProtocol& protocol);

    [[nodiscard]] std::size_t known() const { return survey_.known.size(); }
    [[nodiscard]] std::size_t missing() const { return survey_.missing.size(); }
    [[nodiscard]] Seconds expected() const { return expected_; }
    [[nodiscard]] std::string text() const;
    [[nodiscard]] Json json() const;

    // With so many measured since `begin`: how many of how many, and how long the rest takes at their mean.
    [[nodiscard]] std::string progress(std::int64_t measured,
                                       std::chrono::steady_clock::time_point begin) const;

  private:
    profile::Survey survey_;
    Seconds expected_, each_;
};

// Asks `source` for every price that a solver could ask for.
Result<void> ask_for_all(const std::vector<graph::Graph>& graphs, const cost::Source& source);

}  // namespace viridian::optimize
