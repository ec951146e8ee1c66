#include "viridian/account/ledger.hpp"

#include <algorithm>

namespace viridian::account {
namespace {

std::uint32_t weight_of(const trace::Event& event, const trace::Trace& about, const Options& options) {
    for (const auto& [name, weight] : options.weights)
        if (name == about.names[event.name] || name == about.names[event.type]) return weight;
    return 1;
}

// The readings as the paper takes them: those of a power meter themselves, a counter's as mean powers.
std::vector<PowerReading> readings_of(const Power& power, Nanoseconds shift) {
    if (power.series.size() != 1 || power.series[0].channel.kind == meter::Kind::energy_uj ||
        power.others != 0)
        return power_readings(power.curve);
    std::vector<PowerReading> readings;
    for (const meter::Reading& reading : power.series[0].readings)
        readings.push_back({reading.time_ns - shift, Watts(1e-6 * static_cast<double>(reading.value))});
    return readings;
}

Nanoseconds median_duration(const std::vector<Leaf>& leaves) {
    if (leaves.empty()) return 0;
    std::vector<Nanoseconds> lengths;
    const std::size_t stride = std::max<std::size_t>(1, leaves.size() / 100'000);
    for (std::size_t i = 0; i < leaves.size(); i += stride)
        lengths.push_back(leaves[i].end - leaves[i].start);
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

bool averages(const Power& power) {
    return std::any_of(power.series.begin(), power.series.end(), [](const meter::Series& series) {
        return series.channel.kind == meter::Kind::average_uw;
    });
}

}  // namespace

Ledger::Ledger(std::string device, Power power, const Options& options)
    : name_(std::move(device)),
      power_(std::move(power)),
      options_(&options),
      keeping_(power_.curve, options.method == Method::automatic || options.method == Method::deconvolve
                                 ? options.most_leaves
                                 : 0),
      exact_(keeping_) {
    if (options.method != Method::recency && options.method != Method::recency_leaves) return;
    recency_ =
        std::make_unique<Recency>(readings_of(power_, options.meter_shift), power_.curve, options.tick);
    if (options.method == Method::recency)
        recent_events_ = std::make_unique<WholeEvents<Recency>>(*recency_);
    else
        recent_leaves_ = std::make_unique<Nesting<Recency>>(*recency_);
}

void Ledger::add(const trace::Event& event, const trace::Trace& about) {
    OperationId operation = 0;
    std::uint32_t weight = 1;
    const bool work = trace::is_work(event.kind);
    if (work) {
        ++events_;
        operation = operations_.of(event, about);
        if (operation >= weights_.size()) weights_.push_back(weight_of(event, about, *options_));
        weight = weights_[operation];
    }
    if (recent_leaves_)
        recent_leaves_->add(event, operation, weight);
    else if (!recent_events_)
        exact_.add(event, operation, weight);
    else if (work && event.end >= event.start)
        recent_events_->add({event.start, event.end, operation, weight});
}

// Why the exact sweep is used without trying a fit; nothing if a fit is worth trying.
std::optional<std::string> Ledger::reason_against_fit(const trace::Trace& about) const {
    const std::vector<Leaf>& leaves = keeping_.leaves;
    const PowerCurve& curve = power_.curve;
    if (options_->method == Method::overlap || leaves.empty()) return "asked for";
    if (curve.empty()) return "no meter covers this device";
    const Nanoseconds typical = median_duration(leaves);
    if (options_->method == Method::automatic && curve.period <= typical && !averages(power_))
        return fmt::format("the meter moves every {:.3g} ms, faster than the median operation of {:.3g} ms",
                           1e-6 * static_cast<double>(curve.period), 1e-6 * static_cast<double>(typical));
    if (leaves.size() < keeping_.count)
        return fmt::format("{} leaves are more than deconvolve may hold ({}); raise --most-leaves",
                           keeping_.count, options_->most_leaves);
    if (about.lost_events * 1000 > about.events)
        return fmt::format("the trace lost {} of {} events: a fit would blame the rest", about.lost_events,
                           about.events);
    const std::uint64_t windows = curve.segments.size();
    const std::uint64_t kinds = std::min<std::uint64_t>(operations_.size(), DeconvolveOptions{}.most_kinds);
    const Forecast forecast{name_, leaves.size(), windows, kinds,
                            deconvolve_bytes(leaves.size(), windows, kinds)};
    if (options_->may_fit && !options_->may_fit(forecast))
        return fmt::format("deconvolve was not run: it needs {} MiB for {} leaves, {} readings and {} kinds",
                           (forecast.bytes >> 20U) + 1, forecast.leaves, windows, kinds);
    return std::nullopt;
}

// Fits the leaves, which it sorts by start, to the device's own readings.
Deconvolution Ledger::fit_leaves() {
    std::vector<Leaf>& leaves = keeping_.leaves;
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.start < b.start; });
    std::optional<meter::Series> moved;
    if (power_.series.size() == 1 && power_.others == 0) {
        moved = power_.series.front();
        for (meter::Reading& reading : moved->readings) reading.time_ns -= options_->meter_shift;
    }
    return deconvolve(leaves, static_cast<std::uint32_t>(operations_.size()), power_.curve,
                      moved ? &*moved : nullptr, {.search = options_->search});
}

Ledger::Settled Ledger::settle(const trace::Trace& about) {
    if (recency_) {
        if (recent_leaves_) recent_leaves_->finish();
        if (recent_events_) recent_events_->finish();
        return {std::move(*recency_).finish(), recent_leaves_ ? "recency-leaves" : "recency", "asked for"};
    }
    exact_.finish();
    Attribution exact = std::move(keeping_.overlap).finish();
    if (std::optional<std::string> reason = reason_against_fit(about))
        return {std::move(exact), "overlap", std::move(*reason)};
    Deconvolution fitted = fit_leaves();
    if (!fitted.trusted) {
        const std::string verdict = "deconvolve was refused: " + fitted.verdict;
        return {std::move(exact), "overlap", verdict, {}, {verdict + "; overlap is used. " + fitted.next}};
    }
    // The fit took leaves: an operation that waited for a callee is several of them, and one instance.
    for (OperationId i = 0; i < fitted.attribution.shares.size() && i < exact.shares.size(); ++i)
        fitted.attribution.shares[i].count = exact.shares[i].count;
    const Seconds shift(1e-9 * (fitted.sensor.shift_ns + static_cast<double>(options_->meter_shift)));
    const Seconds spread(1.96e-9 * fitted.sensor.shift_deviation_ns);
    const SensorFound sensor{Seconds(1e-9 * fitted.sensor.window_ns), shift, shift - spread, shift + spread};
    return {std::move(fitted.attribution), "deconvolve", fitted.verdict, sensor, std::move(fitted.warnings)};
}

void Ledger::warn(const Settled& settled, Accounting& out) const {
    const bool metered = !power_.curve.empty();
    for (const std::string& warning : settled.warnings) out.warnings.push_back(name_ + ": " + warning);
    for (const std::string& warning : power_.curve.warnings) out.warnings.push_back(name_ + ": " + warning);
    if (!metered)
        out.warnings.push_back(fmt::format(
            "{}: {} events have no joules, no meter of the power log covers this device", name_, events_));
    else if (settled.shares.uncovered > 0)
        out.warnings.push_back(
            fmt::format("{}: {:.3g} s of operations lie outside the power log and have no joules", name_,
                        1e-9 * static_cast<double>(settled.shares.uncovered)));
    if (metered && power_.estimated)
        out.warnings.push_back(
            fmt::format("{}: no meter measured it; joules follow from CPU time by a model, within a factor "
                        "of {:g}, so they "
                        "rank operations as time does",
                        name_, estimate_factor));
}

void Ledger::write(const trace::Trace& about, Accounting& out) {
    const bool metered = !power_.curve.empty();
    const Settled settled = settle(about);
    const Attribution& shares = settled.shares;
    warn(settled, out);
    const Provenance derived{power_.estimated ? Provenance::Kind::estimated : Provenance::Kind::derived,
                             settled.method + " from " + power_.provenance};
    const auto figure = [&](Exact value, Interval interval, const Provenance& provenance) {
        return with_model_error({joules(value), joules(interval.low), joules(interval.high), provenance});
    };
    const Exact most = shares.meter_total + power_.resolution;  // no operation took more
    for (OperationId i = 0; i < shares.shares.size() && i < operations_.size(); ++i) {
        const Share& share = shares.shares[i];
        const Exact high = std::max(share.energy, std::min(share.high, most));
        Operation operation = operations_.describe(i, about, name_);
        operation.count = share.count;
        operation.seconds = Seconds(1e-9 * static_cast<double>(share.active));
        if (metered) operation.energy = figure(share.energy, {share.low, high}, derived);
        out.operations.push_back(std::move(operation));
    }
    if (!metered) return;
    Device device;
    device.name = name_;
    device.method = settled.method;
    device.verdict = settled.verdict;
    device.power = power_.provenance;
    device.update = Seconds(1e-9 * static_cast<double>(power_.curve.period));
    device.sensor = settled.sensor;
    device.idle = figure(shares.idle, shares.idle_interval, derived);
    device.unattributed = figure(shares.unattributed, shares.unattributed_interval, derived);
    device.residual = figure(shares.residual, shares.residual_interval, derived);
    device.meter_total = figure(
        shares.meter_total, {shares.meter_total - power_.resolution, shares.meter_total + power_.resolution},
        power_.total_provenance());
    device.others = joules(power_.others);
    invariant(balances(shares, settled.method == "deconvolve"),
              "operations, idle, unattributed and residual add up to the meter's total");
    out.devices.push_back(std::move(device));
}

}  // namespace viridian::account
