#include "viridian/serve/metrics.hpp"

#include <prometheus/metric_family.h>

namespace viridian::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

MetricFamily family(std::string name, std::string help, MetricType type = MetricType::Counter) {
    MetricFamily made;
    made.name = std::move(name);
    made.help = std::move(help);
    made.type = type;
    return made;
}

void add(MetricFamily& family, double value, Labels labels = {}) {
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = std::move(labels);
    (family.type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
}

Labels labels_of(const meter::Channel& channel, bool counted) {
    return {{"device", channel.device},
            {"scope", std::string(name_of(channel.scope))},
            {"meter", channel.meter},
            {"kind", std::string(name_of(channel.kind))},
            {"provenance", channel.provenance().text()},
            {"counted", counted ? "true" : "false"}};
}

}  // namespace

std::vector<MetricFamily> Metrics::Collect() const {
    const meter::Snapshot now = monitor_->snapshot();
    MetricFamily joules = family("viridian_joules_total", "Energy since the server began, joules");
    MetricFamily doubts = family("viridian_energy_doubts_total",
                                 "Resets and silences of a meter: its joules are a lower bound");
    for (std::size_t i = 0; i < now.channels.size(); ++i) {
        if (!now.channels[i].is_power()) continue;
        const Labels labels = labels_of(now.channels[i], now.counted[i]);
        add(joules, meter::joules(now.totals[i].energy).value, labels);
        add(doubts, static_cast<double>(now.totals[i].doubts), labels);
    }
    MetricFamily up = family("viridian_meter_up", "1 where the last reading succeeded", MetricType::Gauge);
    MetricFamily reads = family("viridian_meter_reads_total", "Readings of a meter");
    MetricFamily failures = family("viridian_meter_read_failures_total", "Readings that failed");
    MetricFamily missed =
        family("viridian_meter_missed_periods_total", "Periods that passed without a reading");
    for (std::size_t i = 0; i < now.meters; ++i) {
        const auto& one = now.sampler.meters[i];
        const Labels labels = {{"meter", one.name}};
        add(up, one.lost ? 0.0 : 1.0, labels);
        add(reads, static_cast<double>(one.reads), labels);
        add(failures, static_cast<double>(one.failures), labels);
        add(missed, static_cast<double>(one.missed), labels);
    }
    MetricFamily sessions = family("viridian_sessions", "Open sessions", MetricType::Gauge);
    add(sessions, static_cast<double>(now.sessions));
    MetricFamily started = family("viridian_sessions_started_total", "Sessions begun");
    add(started, static_cast<double>(now.started));
    MetricFamily expired = family("viridian_sessions_expired_total", "Sessions whose client fell silent");
    add(expired, static_cast<double>(now.expired));
    MetricFamily cpu = family("viridian_sampler_cpu_seconds_total", "CPU time of the sampling thread");
    add(cpu, now.sampler.cpu.value);
    return {joules, doubts, up, reads, failures, missed, sessions, started, expired, cpu};
}

}  // namespace viridian::serve
