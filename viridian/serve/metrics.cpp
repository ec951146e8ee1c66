#include "viridian/serve/metrics.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>

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

MetricFamily gauge(std::string name, std::string help) {
    return family(std::move(name), std::move(help), MetricType::Gauge);
}

// Appends a series. Its labels must be new to the family.
void add(MetricFamily& family, double value, Labels labels = {}) {
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = std::move(labels);
    (family.type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
}

// Adds `value` to the series with these labels, which is made if it is not there.
void merge(MetricFamily& family, double value, const Labels& labels) {
    const auto metric = std::ranges::find(family.metric, labels, &ClientMetric::label);
    if (metric == family.metric.end()) return add(family, value, labels);
    (family.type == MetricType::Gauge ? metric->gauge.value : metric->counter.value) += value;
}

// Three families: a value and the ends of its interval.
class Interval {
  public:
    Interval(const std::string& subject, const std::string& unit, const std::string& help)
        : value_(family(subject + "_" + unit + "_total", help)),
          low_(family(subject + "_low_" + unit + "_total", help + ", low end of its interval")),
          high_(family(subject + "_high_" + unit + "_total", help + ", high end of its interval")) {}
    void append(double value, double low, double high, const Labels& labels) {
        add(value_, value, labels);
        add(low_, low, labels);
        add(high_, high, labels);
    }
    // Channels of one device and scope, as of a package with several dies, are one series.
    void merge_with(const Energy& energy, const Labels& labels) {
        merge(value_, energy.value.value, labels);
        merge(low_, energy.low.value, labels);
        merge(high_, energy.high.value, labels);
    }
    void move_to(std::vector<MetricFamily>& page) {
        for (MetricFamily* one : {&value_, &low_, &high_}) page.push_back(std::move(*one));
    }

  private:
    MetricFamily value_, low_, high_;
};

Labels device_labels(const meter::Channel& channel, const Energy& energy) {
    return {{"device", channel.device},
            {"scope", std::string(name_of(channel.scope))},
            {"provenance", energy.provenance.text()}};
}

// The energy of the machine: only channels that may be added up.
void write_machine(const meter::Snapshot& now, std::vector<MetricFamily>& page) {
    Interval energy("viridian_energy", "joules",
                    "Energy since the monitor began; all series may be added up");
    for (const meter::EpochEnergy& one : now.energies)
        if (one.counted) energy.merge_with(one.energy, device_labels(now.channels[one.channel], one.energy));
    energy.move_to(page);
}

void write_meters(const meter::Snapshot& now, std::vector<MetricFamily>& page) {
    MetricFamily joules = family("viridian_meter_energy_joules_total",
                                 "Energy by every channel of every meter; some contain others");
    MetricFamily watts = gauge("viridian_meter_power_watts", "Last reading of a meter that tells power");
    MetricFamily doubts =
        family("viridian_meter_doubts_total", "Resets and silences of a meter: its energy is a lower bound");
    for (std::size_t i = 0; i < now.channels.size(); ++i) {
        const meter::Channel& channel = now.channels[i];
        if (!channel.is_power()) continue;
        const Labels labels = {{"device", channel.device},
                               {"scope", std::string(name_of(channel.scope))},
                               {"meter", channel.meter},
                               {"kind", std::string(name_of(channel.kind))},
                               {"provenance", channel.provenance().text()}};
        merge(joules, meter::joules(now.totals[i].energy).value, labels);
        merge(doubts, static_cast<double>(now.totals[i].doubts), labels);
        if (channel.kind != meter::Kind::energy_uj && now.totals[i].readings > 0)
            merge(watts, 1e-6 * static_cast<double>(now.totals[i].last_value), labels);
    }
    MetricFamily up = gauge("viridian_meter_up", "1 if the last reading of a meter succeeded, else 0");
    MetricFamily period = gauge("viridian_meter_period_seconds", "Time between readings of a meter");
    MetricFamily reads = family("viridian_meter_reads_total", "Readings of a meter");
    MetricFamily failures = family("viridian_meter_read_failures_total", "Readings that failed");
    MetricFamily missed =
        family("viridian_meter_missed_periods_total", "Periods that passed without a reading");
    for (std::size_t i = 0; i < now.meters; ++i) {
        const auto& one = now.sampler.meters[i];
        const Labels labels = {{"meter", one.name}};
        add(up, one.lost ? 0.0 : 1.0, labels);
        add(period, one.period.value, labels);
        add(reads, static_cast<double>(one.reads), labels);
        add(failures, static_cast<double>(one.failures), labels);
        add(missed, static_cast<double>(one.missed), labels);
    }
    for (MetricFamily* one : {&joules, &watts, &doubts, &up, &period, &reads, &failures, &missed})
        page.push_back(std::move(*one));
}

void write_sessions(const meter::Snapshot& now, std::vector<MetricFamily>& page) {
    Interval energy("viridian_session_energy", "joules",
                    "Energy of the machine since a session began; sessions at the same time share it");
    MetricFamily seconds = family("viridian_session_seconds_total", "Time since a session began");
    MetricFamily epochs = family("viridian_session_epochs_total", "Epochs of a session that have ended");
    for (const meter::SessionSnapshot& session : now.of_sessions) {
        const Labels labels = {{"session", session.name}, {"number", std::to_string(session.number)}};
        add(seconds, session.whole.seconds.value, labels);
        add(epochs, static_cast<double>(session.epochs), labels);
        for (const meter::EpochEnergy& one : session.whole.energies) {
            if (!one.counted) continue;
            Labels all = labels;
            for (auto& label : device_labels(now.channels[one.channel], one.energy)) all.push_back(label);
            energy.merge_with(one.energy, all);
        }
    }
    energy.move_to(page);
    MetricFamily open = gauge("viridian_sessions", "Open sessions");
    add(open, static_cast<double>(now.sessions));
    MetricFamily started = family("viridian_sessions_started_total", "Sessions begun");
    add(started, static_cast<double>(now.started));
    MetricFamily expired = family("viridian_sessions_expired_total", "Sessions whose client fell silent");
    add(expired, static_cast<double>(now.expired));
    for (MetricFamily* one : {&seconds, &epochs, &open, &started, &expired}) page.push_back(std::move(*one));
}

void write_containers(const std::vector<meter::ContainerShare>& shares, std::vector<MetricFamily>& page) {
    Interval energy("viridian_container_energy", "joules",
                    "Share of the processors' energy by CPU time since the container was first seen");
    MetricFamily cpu =
        family("viridian_container_cpu_seconds_total", "CPU time of a container since it was first seen");
    for (const meter::ContainerShare& share : shares) {
        Labels labels = {{"container_id", share.container.id}, {"pod_uid", share.container.pod}};
        add(cpu, share.cpu.value, labels);
        labels.push_back({"provenance", share.energy.provenance.text()});
        energy.append(share.energy.value.value, share.energy.low.value, share.energy.high.value, labels);
    }
    energy.move_to(page);
    page.push_back(std::move(cpu));
}

void write_carbon(const CarbonTotal& carbon, std::vector<MetricFamily>& page) {
    Interval grams("viridian_carbon", "grams", "CO2 equivalents by the file of factors, with its PUE");
    if (!carbon.provenance.source.empty())
        grams.append(carbon.value.value, carbon.low.value, carbon.high.value,
                     {{"provenance", carbon.provenance.text()}});
    grams.move_to(page);
    MetricFamily unknown = family("viridian_carbon_unknown_joules_total",
                                  "Energy at times of which the file of factors says nothing");
    add(unknown, carbon.unknown.value);
    MetricFamily intensity =
        gauge("viridian_carbon_intensity_grams_per_joule", "Factor in force, without the PUE");
    if (carbon.now != nullptr) add(intensity, carbon.now->grams_per_joule, {{"source", carbon.now->source}});
    MetricFamily pue = gauge("viridian_power_usage_effectiveness_ratio",
                             "Energy of the building over that of its computers, by the file of factors");
    add(pue, carbon.pue);
    for (MetricFamily* one : {&unknown, &intensity, &pue}) page.push_back(std::move(*one));
}

}  // namespace

std::vector<MetricFamily> Metrics::Collect() const {
    const Figures figures = totals_->read();
    std::vector<MetricFamily> page;
    write_machine(figures.monitor, page);
    write_sessions(figures.monitor, page);
    write_containers(figures.containers, page);
    if (figures.carbon) write_carbon(*figures.carbon, page);
    write_meters(figures.monitor, page);
    MetricFamily cpu = family("viridian_sampler_cpu_seconds_total", "CPU time of the sampling thread");
    add(cpu, figures.monitor.sampler.cpu.value);
    page.push_back(std::move(cpu));
    MetricFamily build = gauge("viridian_build_info", "1, with the version in a label");
    add(build, 1.0, {{"version", VIRIDIAN_VERSION}});
    page.push_back(std::move(build));
    std::erase_if(page, [](const MetricFamily& one) { return one.metric.empty(); });
    return page;
}

}  // namespace viridian::serve
