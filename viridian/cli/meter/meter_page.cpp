#include "viridian/cli/meter/meter_page.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>

#include "viridian/report/plot.hpp"

namespace viridian::cli {
namespace {

using meter::FieldCharacter;
using meter::Kind;

bool is_counter(const FieldCharacter& field) { return field.channel.kind == Kind::energy_uj; }
bool is_fitted(const FieldCharacter& field) { return field.response.explained > 0.5; }

std::string milliseconds(double seconds) { return fmt::format("{:.3g}", 1e3 * seconds); }
std::string between(double value, double low, double high) {
    return fmt::format("{} ({} to {})", milliseconds(value), milliseconds(low), milliseconds(high));
}

std::string period_of(const FieldCharacter& field) {
    if (!field.renewals) return "never changed";
    const meter::Renewals& r = *field.renewals;
    return r.limited ? fmt::format("at most {}", milliseconds(1e-9 * r.period_ns))
                     : between(1e-9 * r.period_ns, 1e-9 * r.low_ns, 1e-9 * r.high_ns);
}

// Ten seconds of load and readings, where the load changes at a readable pace.
report::Plot steps_plot(const std::string& title, const meter::ProbeLog& log,
                        std::span<const meter::LoadStep> load, const std::vector<FieldCharacter>& fields) {
    const std::int64_t zero = load[0].time_ns;
    std::int64_t begin = zero;
    std::size_t best = 0;
    for (std::size_t i = 0; i < load.size(); ++i) {  // about twelve steps in ten seconds
        std::size_t j = i;
        while (j < load.size() && load[j].time_ns - load[i].time_ns < 10'000'000'000) ++j;
        const std::size_t steps = std::min<std::size_t>(j - i, 12);
        if (steps > best) {
            best = steps;
            begin = load[i].time_ns;
        }
    }
    const std::int64_t end = begin + 10'000'000'000;
    const auto at = [zero](std::int64_t time) { return 1e-9 * static_cast<double>(time - zero); };
    double full = 1.0, idle = 0.0;
    for (const FieldCharacter& field : fields)
        if (is_fitted(field) && field.response.full > full) {
            full = field.response.full;
            idle = field.response.idle;
        }
    report::Plot plot{title + ": load (grey) and what each field says", "s since the first step", "W", {}};
    report::Series grey{"load", {}, {}, true, true};
    for (const meter::LoadStep& step : load)
        if (step.time_ns >= begin - 1'000'000'000 && step.time_ns < end) {
            grey.x.push_back(at(std::max(step.time_ns, begin)));
            grey.y.push_back(idle + step.load * (full - idle));
        }
    plot.series.push_back(std::move(grey));
    for (std::size_t i = 0; i < log.fields.size(); ++i) {
        if (is_counter(fields[i])) continue;
        report::Series line{fields[i].channel.meter + " " + fields[i].channel.device, {}, {}, true, false};
        for (const meter::ProbeReading& reading : log.fields[i].readings)
            if (reading.seen_ns >= begin && reading.seen_ns < end) {
                line.x.push_back(at(reading.seen_ns));
                line.y.push_back(1e-6 * static_cast<double>(reading.value));
            }
        plot.series.push_back(std::move(line));
    }
    return plot;
}

// For each field: the share of gaps between changes that are at most so long.
report::Plot gaps_plot(const std::string& title, const meter::ProbeLog& log) {
    report::Plot plot{title + ": time between changes of the value", "ms", "% of gaps, at most so long", {}};
    for (const meter::ProbeField& field : log.fields) {
        std::vector<double> gaps;
        for (std::size_t i = 1; i < field.readings.size(); ++i)
            gaps.push_back(1e-6 *
                           static_cast<double>(field.readings[i].seen_ns - field.readings[i - 1].seen_ns));
        if (gaps.size() < 10) continue;
        std::sort(gaps.begin(), gaps.end());
        report::Series line{field.channel.meter + " " + field.channel.device, {}, {}, false, false};
        for (int percent = 0; percent <= 99; ++percent) {
            line.x.push_back(gaps[static_cast<std::size_t>(percent) * (gaps.size() - 1) / 100]);
            line.y.push_back(percent);
        }
        plot.series.push_back(std::move(line));
    }
    return plot;
}

}  // namespace

Json to_json(const FieldCharacter& field) {
    const meter::Response& r = field.response;
    Json json = {{"field", field.channel.meter},
                 {"device", field.channel.device},
                 {"scope", name_of(field.channel.scope)},
                 {"kind", name_of(field.channel.kind)},
                 {"stamp", field.stamp == meter::StampKind::renewal ? "renewal" : "asking"},
                 {"reads", field.reads},
                 {"cost_us",
                  {{"median", 1e-3 * static_cast<double>(field.cost_ns)},
                   {"p99", 1e-3 * static_cast<double>(field.cost_p99_ns)}}},
                 {"idle_watts", field.idle_watts},
                 {"explained", r.explained}};
    if (field.renewals)
        json["period_s"] = {{"value", 1e-9 * field.renewals->period_ns},
                            {"low", 1e-9 * field.renewals->low_ns},
                            {"high", 1e-9 * field.renewals->high_ns},
                            {"jitter", 1e-9 * field.renewals->jitter_ns},
                            {"limited_by_asking", field.renewals->limited}};
    if (is_fitted(field)) {
        json["lag_s"] = {{"value", r.lag}, {"low", r.lag_low}, {"high", r.lag_high}};
        json["full_watts"] = r.full;
        if (!is_counter(field)) {
            json["window_s"] = {{"value", r.window}, {"low", r.window_low}, {"high", r.window_high}};
            json["shape"] = r.shape == meter::Shape::mean ? "mean" : "decay";
        }
    }
    if (is_counter(field)) json["resolution_uj"] = field.resolution_uj;
    if (field.counter_ratio > 0.0)
        json["over_counter"] = {{"value", field.counter_ratio},
                                {"low", field.counter_ratio - field.counter_doubt},
                                {"high", field.counter_ratio + field.counter_doubt}};
    return json;
}

std::string table_of(const std::vector<FieldCharacter>& fields) {
    std::string text =
        "| field | renewed every, ms | window, ms | lag, ms | explained | idle, W | full, W | integral / "
        "counter | "
        "one read, us (99 %) |\n|---|---|---|---|---|---|---|---|---|\n";
    for (const FieldCharacter& field : fields) {
        const meter::Response& r = field.response;
        std::string window = "–", lag = "–", full = "–", ratio = "–";
        if (is_fitted(field)) {
            lag = between(r.lag, r.lag_low, r.lag_high);
            full = fmt::format("{:.1f}", r.full);
            window = is_counter(field) ? "its period"
                                       : (r.shape == meter::Shape::decay ? "decays: " : "") +
                                             between(r.window, r.window_low, r.window_high);
        }
        if (field.counter_ratio > 0.0)
            ratio = fmt::format("{:.4f} ± {:.4f}", field.counter_ratio, field.counter_doubt);
        else if (is_counter(field))
            ratio = fmt::format("steps of {:.3g} mJ", 1e-3 * static_cast<double>(field.resolution_uj));
        text += fmt::format(
            "| {} {} | {} | {} | {} | {:.3f} | {:.1f} | {} | {} | {:.1f} ({:.1f}) |\n", field.channel.device,
            field.channel.meter, period_of(field), window, lag, r.explained, field.idle_watts, full, ratio,
            1e-3 * static_cast<double>(field.cost_ns), 1e-3 * static_cast<double>(field.cost_p99_ns));
    }
    return text;
}

Result<void> write_meter_page(const Path& page, const std::string& title, const meter::ProbeLog& log,
                              std::span<const meter::LoadStep> load,
                              const std::vector<FieldCharacter>& fields) {
    const std::string stem = page.stem().string();
    const std::string name = title.empty() ? stem : title;
    std::string text = fmt::format(
        "# {}\n\n{}\nWindow and lag: each reading is the mean load over a window that ended that much before "
        "the "
        "renewal, fitted to {:.0f} s of load stepping on and off ({} steps); in brackets 95 % intervals. "
        "`explained` is the share of the readings' variance that this explains.\n\n![Load and "
        "readings]({}-steps.svg)"
        "\n\n![Time between changes]({}-gaps.svg)\n",
        name, table_of(fields), 1e-9 * static_cast<double>(load.back().time_ns - load.front().time_ns),
        load.size(), stem, stem);
    const Path folder = page.parent_path();
    VIRIDIAN_TRY(
        write_file(folder / (stem + "-steps.svg"), report::svg_of(steps_plot(name, log, load, fields))));
    VIRIDIAN_TRY(write_file(folder / (stem + "-gaps.svg"), report::svg_of(gaps_plot(name, log))));
    return write_file(page, text);
}

}  // namespace viridian::cli
