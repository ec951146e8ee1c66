#include "viridian/account/account.hpp"

#include <algorithm>
#include <ctime>
#include <map>

#include "viridian/account/attribute/modules.hpp"
#include "viridian/account/ledger.hpp"
#include "viridian/account/power/placement.hpp"

namespace viridian::account {

namespace {

// "2026-11-24 06:31:02.123"; a time that counts from an unknown zero in seconds.
std::string moment(std::int64_t time_ns, bool since_1970) {
    if (!since_1970) return fmt::format("{:.3f} s", 1e-9 * static_cast<double>(time_ns));
    const std::time_t seconds = time_ns / 1'000'000'000;
    std::tm date{};
    if (::gmtime_r(&seconds, &date) == nullptr) return fmt::format("{} ns", time_ns);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", date.tm_year + 1900, date.tm_mon + 1,
                       date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, time_ns / 1'000'000 % 1000);
}

// The times of the first and of the last reading of power; the first is later if there is none.
std::pair<std::int64_t, std::int64_t> span_of(const meter::PowerLog& log) {
    std::int64_t begin = INT64_MAX, end = INT64_MIN;
    for (const meter::Series& series : log.series)
        if (!series.readings.empty() && series.channel.is_power()) {
            begin = std::min(begin, series.readings.front().time_ns);
            end = std::max(end, series.readings.back().time_ns);
        }
    return {begin, end};
}

// When trace and log were recorded, and by how much they miss each other.
std::string spans(const trace::Trace& about, const meter::PowerLog& log) {
    const auto [begin, end] = span_of(log);
    const bool dated = about.clock.zero == trace::Clock::Zero::unix_epoch;
    std::string text =
        fmt::format("the trace runs from {} to {}", moment(about.begin, dated), moment(about.end, dated));
    if (begin > end) return text + ", the log has no reading of power";
    text += fmt::format(", the log from {} to {} UTC", moment(begin, true), moment(end, true));
    const bool earlier = end < about.begin;
    if (!dated || (!earlier && begin <= about.end)) return text;
    const double gap = 1e-9 * static_cast<double>(earlier ? about.begin - end : begin - about.end);
    constexpr double day = 86'400.0;
    return text + (gap < day ? fmt::format(", {:.6g} s ", gap) : fmt::format(", {:.0f} days ", gap / day)) +
           (earlier ? "before" : "after");
}

// Operations without any energy are an error, unless other processes had all of it, which is a warning.
Result<void> check_energy(const trace::Trace& about, const meter::PowerLog& log, Accounting& out) {
    const bool any = std::any_of(
        out.operations.begin(), out.operations.end(),
        [](const Operation& operation) { return operation.energy && operation.energy->value.value > 0; });
    const auto [begin, end] = span_of(log);
    const bool all_of_others =
        begin <= about.end && about.begin <= end &&
        std::ranges::any_of(out.devices, [](const Device& device) { return device.others > Joules(0); });
    if (!any && all_of_others)
        out.warnings.emplace_back(
            "other processes had all of the energy, by the processor time that the system counts in ticks of "
            "10 "
            "ms; record more steps");
    else if (!any)
        return fail(ErrorCode::mismatch,
                    about.clock.zero == trace::Clock::Zero::unknown
                        ? "this trace's clock has no epoch: give --offset NS, the Unix time of its zero"
                        : "record both at the same time; check the clocks",
                    "the trace and the power log share no time: {}", spans(about, log));
    return {};
}

}  // namespace

std::optional<Method> method_from(std::string_view name) {
    if (name == "auto") return Method::automatic;
    if (name == "recency") return Method::recency;
    if (name == "recency-leaves") return Method::recency_leaves;
    if (name == "overlap") return Method::overlap;
    if (name == "deconvolve") return Method::deconvolve;
    return std::nullopt;
}

Result<Accounting> account(trace::Source& source, const meter::PowerLog& log, const Options& options) {
    std::vector<std::unique_ptr<Ledger>> ledgers;  // in order of appearance
    std::vector<Ledger*> by_device;                // by trace device
    std::map<std::string, Ledger*, std::less<>> by_name;
    Placement placement(log);
    Modules modules;
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
            modules.add(event, about);
            if (event.device >= by_device.size()) by_device.resize(about.devices.size());
            Ledger*& ledger = by_device[event.device];
            if (ledger == nullptr) ledger = ledger_of(about.devices[event.device]);
            const std::string* device = nullptr;
            if (place && ledger->name().starts_with("cpu:"))
                device = placement.device_of(about.lanes[event.lane].thread, event.start);
            (device == nullptr ? ledger : ledger_of(*device))->add(event, about);
        }
    }
    const trace::Trace& about = source.about();
    if (std::none_of(ledgers.begin(), ledgers.end(),
                     [](const auto& ledger) { return !ledger->power().curve.empty(); })) {
        std::string of_trace, of_power;
        for (const auto& ledger : ledgers) of_trace += " " + ledger->name();
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
    out.sharing = options.method == Method::recency ? "equal shares among concurrent events, callers included"
                  : options.weights.empty()         ? "equal shares among concurrent leaves"
                                                    : "weighted shares among concurrent leaves";
    out.events = about.events;
    for (const meter::Notice& notice : log.warnings)
        out.warnings.push_back(fmt::format("power log: {} ({})", notice.what, notice.count));
    for (const trace::Warning& warning : about.warnings)
        out.warnings.push_back(
            fmt::format("trace: {} ({}, first: {})", warning.what, warning.count, warning.first));
    if (about.unowned > 0)
        out.warnings.push_back(fmt::format("trace: {} kernels have no known operator", about.unowned));
    out.modules = modules.describe(about);
    out.processes = about.processes;
    for (const auto& ledger : ledgers) ledger->write(about, out);
    VIRIDIAN_TRY(check_energy(about, log, out));
    for (const trace::Edge& edge : about.edges)
        out.edges.push_back({about.qualified(edge.from), about.qualified(edge.to), edge.count});
    std::stable_sort(
        out.operations.begin(), out.operations.end(), [](const Operation& a, const Operation& b) {
            return (a.energy ? a.energy->value.value : -1.0) > (b.energy ? b.energy->value.value : -1.0);
        });
    return out;
}

}  // namespace viridian::account
