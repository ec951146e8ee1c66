#pragma once
// Metrics writes the state of the monitor as metrics of Prometheus, in base units, whenever Prometheus asks.
// Their names, labels and meanings stand in docs/fleet.md, "Metrics".
#include <prometheus/collectable.h>

#include "viridian/serve/running_totals.hpp"

namespace viridian::serve {

class Metrics final : public prometheus::Collectable {
  public:
    // `totals` must outlive this object.
    explicit Metrics(RunningTotals& totals) : totals_(&totals) {}
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    RunningTotals* totals_;
};

}  // namespace viridian::serve
