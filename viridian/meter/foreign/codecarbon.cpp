// `emissions.csv` of CodeCarbon (codecarbon/output_methods/emissions_data.py): each row holds the seconds and
// the kilowatt-hours of a run since its start, and the time of writing, local, to the second. A run that
// flushes has several rows. The GPUs of a run are one number, and what is not measured is CodeCarbon's own
// estimate.
//
// | CodeCarbon | `emissions.csv`, best with regular `flush()` | kWh of CPU, GPUs and RAM since the start |
// local time, s | `cpu:0`, `cuda:0` (all GPUs) |
#include <array>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr double joules_a_kilowatt_hour = 3.6e6;

struct Source {
    std::string_view column, device;
    Scope scope;
};
constexpr std::array<Source, 3> sources = {{{"cpu_energy", "cpu:0", Scope::package},
                                            {"ram_energy", "cpu:0", Scope::dram},
                                            {"gpu_energy", "cuda:0", Scope::gpu}}};

struct RunSoFar {
    std::int64_t end = 0;
    std::array<double, sources.size()> joules{};
};

bool recognises_codecarbon(std::string_view head) {
    Lines lines(head);
    if (!lines.next()) return false;
    const auto names = csv_fields(lines.line());
    return position_of("timestamp", names) && position_of("run_id", names) &&
           position_of("cpu_energy", names) && position_of("duration", names);
}

Result<PowerLog> read_codecarbon(const ForeignText& log) {
    LogBuilder out(log, "codecarbon");
    Lines lines(log.text);
    (void)lines.next();
    const std::string_view header = lines.line();
    const auto names = csv_fields(header);
    const std::size_t time_at = *position_of("timestamp", names), length_at = *position_of("duration", names),
                      run_at = *position_of("run_id", names);
    std::map<std::string, RunSoFar> runs;
    while (lines.next()) {
        if (lines.line() == header) continue;
        const auto fields = csv_fields(lines.line());
        const bool whole = fields.size() == names.size();
        const auto time = whole ? unix_date(fields[time_at]) : std::nullopt;
        const double length = (whole ? real_number(fields[length_at]) : std::nullopt).value_or(-1.0);
        if (!time || length < 0.0 || length > 1e9) {
            if (!lines.whole()) break;
            return out.malformed(lines.number(), "does not have the header's fields, or has no time");
        }
        const auto [found, first] = runs.try_emplace(std::string(fields[run_at]));
        RunSoFar& run = found->second;
        const std::int64_t begin = first ? *time - static_cast<std::int64_t>(length * 1e9) : run.end;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const auto at = position_of(sources[i].column, names);
            const auto energy = at ? real_number(fields[*at]) : std::nullopt;
            if (!energy || *energy == 0.0) continue;  // CodeCarbon writes 0 for what the machine lacks
            const double joules = *energy * joules_a_kilowatt_hour;
            out.stretch(std::string(sources[i].device), sources[i].scope, begin, *time,
                        joules - run.joules[i]);
            run.joules[i] = joules;
        }
        run.end = *time;
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat codecarbon_format = {"CodeCarbon", recognises_codecarbon, read_codecarbon};

}  // namespace viridian::meter
