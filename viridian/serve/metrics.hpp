#pragma once
// Metrics gives Prometheus the state of the monitor, which is read when Prometheus asks for it:
//
//     viridian_joules_total{device,scope,meter,provenance,counted}     since the server began
//     viridian_energy_doubts_total{...}                                resets, silences: a lower bound
//     viridian_meter_up, _reads_total, _read_failures_total, _missed_periods_total {meter}
//     viridian_sessions, viridian_sessions_started_total, viridian_sessions_expired_total
//     viridian_sampler_cpu_seconds_total
#include <prometheus/collectable.h>

#include "viridian/meter/monitor/monitor.hpp"

namespace viridian::serve {

class Metrics final : public prometheus::Collectable {
  public:
    // `monitor` must outlive this object.
    explicit Metrics(meter::Monitor& monitor) : monitor_(&monitor) {}
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    meter::Monitor* monitor_;
};

}  // namespace viridian::serve
