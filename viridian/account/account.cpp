#include "viridian/account/account.hpp"

#include <algorithm>
#include <map>

#include "viridian/account/attribute/nesting.hpp"
#include "viridian/account/attribute/operations.hpp"
#include "viridian/account/attribute/recency.hpp"
#include "viridian/account/deconvolve/deconvolve.hpp"
#include "viridian/account/power/placement.hpp"
#include "viridian/account/power/power.hpp"

namespace viridian::account {
namespace {

// Runs the exact sweep and keeps the leaves beside it, as long as there is room for them.
class Keeping {
  public:
    Keeping(const PowerCurve& curve, std::uint64_t most) : overlap(curve), most_(most) {}
    void advance(Nanoseconds time) {
        now_ = time;
        overlap.advance(time);
    }
    std::uint32_t enter(OperationId operation, std::uint32_t weight, bool first) {
        const std::uint32_t slot = overlap.enter(operation, weight, first);
        if (slot >= starts_.size()) starts_.resize(std::size_t{slot} + 1);
        starts_[slot] = {now_, 0, operation, weight};
        return slot;
    }
    void leave(std::uint32_t slot) {
        overlap.leave(slot);
        ++count;
        if (leaves.size() == most_) return;
        starts_[slot].end = now_;
        leaves.push_back(starts_[slot]);
    }
    Overlap overlap;
    std::vector<Leaf> leaves;  // by end
    std::uint64_t count = 0;

  private:
    std::uint64_t most_;
    Nanoseconds now_ = 0;
    std::vector<Leaf> starts_;
};

struct Ledger {  // of one device
    std::string name;
    Power power;
    Operations operations;
    Keeping keeping;
    std::unique_ptr<Recency> recency;
    Nesting<Keeping> exact;
    std::unique_ptr<Nesting<Recency>> recent;
    std::vector<std::uint32_t> weights;  // by operation
    std::uint64_t events = 0;

    Ledger(std::string device, Power given, const Options& options)
        : name(std::move(device)),
          power(std::move(given)),
          keeping(power.curve, options.method == Method::automatic || options.method == Method::deconvolve
                                   ? options.most_leaves
                                   : 0),
          exact(keeping) {
        if (options.method == Method::recency) {
            std::vector<PowerReading> readings;
            if (power.series.size() == 1 && power.series[0].channel.kind != meter::Kind::energy_uj &&
                power.others == 0)
                for (const meter::Reading& reading : power.series[0].readings)
                    readings.push_back({reading.time_ns - options.meter_shift,
                                        Watts(1e-6 * static_cast<double>(reading.value))});
            else
                readings = power_readings(power.curve);
            recency = std::make_unique<Recency>(std::move(readings), power.curve.total, options.tick);
            recent = std::make_unique<Nesting<Recency>>(*recency);
        }
    }
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    void add(const trace::Event& event, const trace::Trace& about, const Options& options) {
        OperationId operation = 0;
        std::uint32_t weight = 1;
        if (trace::is_work(event.kind)) {
            ++events;
            operation = operations.of(event);
            if (operation >= weights.size()) weights.push_back(weight_of(event, about, options));
            weight = weights[operation];
        }
        if (recent)
            recent->add(event, operation, weight);
        else
            exact.add(event, operation, weight);
    }

  private:
    static std::uint32_t weight_of(const trace::Event& event, const trace::Trace& about,
                                   const Options& options) {
        for (const auto& [name, weight] : options.weights)
            if (name == about.names[event.name] || name == about.names[event.type]) return weight;
        return 1;
    }
};

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

// What one device's operations received, by which method and why.
struct Settled {
    Attribution shares;
    std::string method, verdict;
    std::optional<SensorFound> sensor = {};
    std::vector<std::string> warnings = {};
};

bool averages(const Power& power) {
    return std::any_of(power.series.begin(), power.series.end(), [](const meter::Series& series) {
        return series.channel.kind == meter::Kind::average_uw;
    });
}

// Why the exact sweep is used without trying a fit; nothing if a fit is worth trying.
std::optional<std::string> reason_against_fit(const Ledger& ledger, const trace::Trace& about,
                                              const Options& options) {
    const std::vector<Leaf>& leaves = ledger.keeping.leaves;
    const PowerCurve& curve = ledger.power.curve;
    if (options.method == Method::overlap || leaves.empty()) return "asked for";
    const Nanoseconds typical = median_duration(leaves);
    if (options.method == Method::automatic && curve.period <= typical && !averages(ledger.power))
        return fmt::format("the meter moves every {:.3g} ms, faster than the median operation of {:.3g} ms",
                           1e-6 * static_cast<double>(curve.period), 1e-6 * static_cast<double>(typical));
    if (leaves.size() < ledger.keeping.count)
        return fmt::format("{} leaves are more than deconvolve may hold ({}); raise --most-leaves",
                           ledger.keeping.count, options.most_leaves);
    if (about.lost_events * 1000 > about.events)
        return fmt::format("the trace lost {} of {} events: a fit would blame the rest", about.lost_events,
                           about.events);
    const std::uint64_t windows = curve.segments.size();
    const std::uint64_t kinds =
        std::min<std::uint64_t>(ledger.operations.size(), DeconvolveOptions{}.most_kinds);
    const Forecast forecast{ledger.name, leaves.size(), windows, kinds,
                            deconvolve_bytes(leaves.size(), windows, kinds)};
    if (options.may_fit && !options.may_fit(forecast))
        return fmt::format("deconvolve was not run: it needs {} MiB for {} leaves, {} readings and {} kinds",
                           (forecast.bytes >> 20U) + 1, forecast.leaves, windows, kinds);
    return std::nullopt;
}

// Fits the ledger's leaves, which it sorts by start, to the device's own readings.
Deconvolution fit_leaves(Ledger& ledger, const Options& options) {
    std::vector<Leaf>& leaves = ledger.keeping.leaves;
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.start < b.start; });
    std::optional<meter::Series> moved;
    if (ledger.power.series.size() == 1 && ledger.power.others == 0) {
        moved = ledger.power.series.front();
        for (meter::Reading& reading : moved->readings) reading.time_ns -= options.meter_shift;
    }
    return deconvolve(leaves, static_cast<std::uint32_t>(ledger.operations.size()), ledger.power.curve,
                      moved ? &*moved : nullptr, {.search = options.search});
}

// Ends the sweeps of a device and chooses between the exact one and a fit.
Settled settle(Ledger& ledger, const trace::Trace& about, const Options& options) {
    if (ledger.recent) {
        ledger.recent->finish();
        return {std::move(*ledger.recency).finish(), "recency", "asked for"};
    }
    ledger.exact.finish();
    Attribution exact = std::move(ledger.keeping.overlap).finish();
    if (std::optional<std::string> reason = reason_against_fit(ledger, about, options))
        return {std::move(exact), "overlap", std::move(*reason)};
    Deconvolution fitted = fit_leaves(ledger, options);
    if (!fitted.trusted) {
        const std::string verdict = "deconvolve was refused: " + fitted.verdict;
        return {std::move(exact), "overlap", verdict, {}, {verdict + "; overlap is used"}};
    }
    const Seconds shift(1e-9 * (fitted.sensor.shift_ns + static_cast<double>(options.meter_shift)));
    const Seconds spread(1.96e-9 * fitted.sensor.shift_deviation_ns);
    const SensorFound sensor{Seconds(1e-9 * fitted.sensor.window_ns), shift, shift - spread, shift + spread};
    return {std::move(fitted.attribution), "deconvolve", fitted.verdict, sensor, std::move(fitted.warnings)};
}

void write_device(Ledger& ledger, const trace::Trace& about, const Options& options, Accounting& out) {
    Device device;
    device.name = ledger.name;
    device.power = ledger.power.provenance;
    device.update = Seconds(1e-9 * static_cast<double>(ledger.power.curve.period));
    const bool metered = !ledger.power.curve.empty();
    const Settled settled = settle(ledger, about, options);
    const Attribution& shares = settled.shares;
    device.method = settled.method;
    device.verdict = settled.verdict;
    device.sensor = settled.sensor;
    for (const std::string& warning : settled.warnings) out.warnings.push_back(ledger.name + ": " + warning);
    for (const std::string& warning : ledger.power.curve.warnings)
        out.warnings.push_back(ledger.name + ": " + warning);
    if (!metered)
        out.warnings.push_back(
            fmt::format("{}: {} events have no joules, no meter of the power log covers this device",
                        ledger.name, ledger.events));
    else if (shares.uncovered > 0)
        out.warnings.push_back(
            fmt::format("{}: {:.3g} s of operations lie outside the power log and have no joules",
                        ledger.name, 1e-9 * static_cast<double>(shares.uncovered)));
    const Provenance provenance{
        ledger.power.estimated ? Provenance::Kind::estimated : Provenance::Kind::derived,
        device.method + " from " + device.power};
    for (OperationId i = 0; i < shares.shares.size() && i < ledger.operations.size(); ++i) {
        const Share& share = shares.shares[i];
        Operation operation = ledger.operations.describe(i, about, ledger.name);
        operation.count = share.count;
        operation.seconds = Seconds(1e-9 * static_cast<double>(share.active));
        if (metered)
            operation.energy =
                Energy{joules(share.energy), joules(share.low), joules(share.high), provenance};
        out.operations.push_back(std::move(operation));
    }
    if (!metered) return;
    device.idle = joules(shares.idle);
    device.unattributed = joules(shares.unattributed);
    device.residual = joules(shares.residual);
    device.meter_total = joules(shares.meter_total);
    device.others = joules(ledger.power.others);
    invariant(std::abs(joules(shares.imbalance()).value) <= 1e-6 + 1e-13 * std::abs(device.meter_total.value),
              "operations, idle, unattributed and residual add up to the meter's total");
    out.devices.push_back(std::move(device));
}

}  // namespace

std::optional<Method> method_from(std::string_view name) {
    if (name == "auto") return Method::automatic;
    if (name == "recency") return Method::recency;
    if (name == "overlap") return Method::overlap;
    if (name == "deconvolve") return Method::deconvolve;
    return std::nullopt;
}

Result<Accounting> account(trace::Source& source, const meter::PowerLog& log, const Options& options) {
    std::vector<std::unique_ptr<Ledger>> ledgers;  // in order of appearance
    std::vector<Ledger*> by_device;                // by trace device
    std::map<std::string, Ledger*, std::less<>> by_name;
    Placement placement(log);
    const auto ledger_of = [&](const std::string& name) {
        Ledger*& found = by_name[name];
        if (found == nullptr) {
            ledgers.push_back(std::make_unique<Ledger>(
                name, power_of(log, name, options.meter_shift, options.sparse), options));
            found = ledgers.back().get();
        }
        return found;
    };
    const bool place = !placement.empty();
    while (true) {
        VIRIDIAN_TRY(const std::span<const trace::Event> batch, source.next());
        if (batch.empty()) break;
        const trace::Trace& about = source.about();
        for (const trace::Event& event : batch) {
            if (event.kind >= trace::Kind::overhead) continue;
            if (event.device >= by_device.size()) by_device.resize(about.devices.size());
            Ledger*& ledger = by_device[event.device];
            if (ledger == nullptr) ledger = ledger_of(about.devices[event.device]);
            const std::string* device = nullptr;
            if (place && ledger->name.starts_with("cpu:"))
                device = placement.device_of(about.lanes[event.lane].thread, event.start);
            (device == nullptr ? ledger : ledger_of(*device))->add(event, about, options);
        }
    }
    const trace::Trace& about = source.about();
    if (std::none_of(ledgers.begin(), ledgers.end(),
                     [](const auto& ledger) { return !ledger->power.curve.empty(); })) {
        std::string of_trace, of_power;
        for (const auto& ledger : ledgers) of_trace += " " + ledger->name;
        for (const meter::Series& series : log.series)
            if (series.channel.is_power() && of_power.find(series.channel.device) == std::string::npos)
                of_power += " " + series.channel.device;
        return fail(ErrorCode::missing_entry,
                    "record both on the same machine, or rename the devices of the power log",
                    "the power log measures{} but the trace ran on{}",
                    of_power.empty() ? " nothing" : of_power, of_trace.empty() ? " nothing" : of_trace);
    }
    Accounting out;
    out.trace = about.source;
    out.sharing = options.weights.empty() ? "equal shares among concurrent leaves"
                                          : "weighted shares among concurrent leaves";
    out.events = about.events;
    for (const meter::Notice& notice : log.warnings)
        out.warnings.push_back(fmt::format("power log: {} ({})", notice.what, notice.count));
    for (const trace::Warning& warning : about.warnings)
        out.warnings.push_back(
            fmt::format("trace: {} ({}, first: {})", warning.what, warning.count, warning.first));
    if (about.unowned > 0)
        out.warnings.push_back(fmt::format("trace: {} kernels have no known operator", about.unowned));
    for (const auto& ledger : ledgers) write_device(*ledger, about, options, out);
    const bool any = std::any_of(
        out.operations.begin(), out.operations.end(),
        [](const Operation& operation) { return operation.energy && operation.energy->value.value > 0; });
    if (!any)
        return fail(ErrorCode::mismatch,
                    about.clock.zero == trace::Clock::Zero::unknown
                        ? "this trace's clock has no epoch: give --offset NS, the Unix time of its zero"
                        : "record both at the same time; check the clocks",
                    "the trace and the power log share no time (the trace runs from {} to {} ns)",
                    about.begin, about.end);
    for (const trace::Edge& edge : about.edges)
        out.edges.push_back({about.qualified(edge.from), about.qualified(edge.to), edge.count});
    std::stable_sort(
        out.operations.begin(), out.operations.end(), [](const Operation& a, const Operation& b) {
            return (a.energy ? a.energy->value.value : -1.0) > (b.energy ? b.energy->value.value : -1.0);
        });
    return out;
}

}  // namespace viridian::account
