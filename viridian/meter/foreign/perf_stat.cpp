// `perf stat -a -I 100 -x, -e power/energy-pkg/` (perf-stat's manual, "CSV FORMAT"): seconds since the start,
// then with
// --per-socket the socket and a count, then the joules of the interval, their unit and the event. With -o the
// first line says when perf started, to the second.
//
// | perf stat | `-a -I 100 -x, -e power/energy-pkg/` | joules of each interval, by socket with `--per-socket`
// | since its start: `# started on`, or `--power-offset` | `cpu:<socket>` |
#include <array>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr std::string_view rapl_event = ",Joules,power/energy-";
constexpr std::string_view started_on = "# started on ";

struct Domain {
    std::string_view event;
    Scope scope;
};
constexpr std::array<Domain, 5> domains = {{{"power/energy-pkg/", Scope::package},
                                            {"power/energy-cores/", Scope::core},
                                            {"power/energy-gpu/", Scope::uncore},
                                            {"power/energy-ram/", Scope::dram},
                                            {"power/energy-psys/", Scope::psys}}};

bool recognises_perf_stat(std::string_view head) { return head.find(rapl_event) != std::string_view::npos; }

const Domain* domain_of(std::string_view event) {
    for (const Domain& domain : domains)
        if (domain.event == event) return &domain;
    return nullptr;
}

Result<PowerLog> read_perf_stat(const ForeignText& log) {
    LogBuilder out(log, "perf-stat");
    std::optional<std::int64_t> start;
    std::map<std::string, std::int64_t> last;  // end of the interval before, by socket and event
    for (Lines lines(log.text); lines.next();) {
        if (lines.line().starts_with(started_on)) {
            if (start)
                return out.malformed(lines.number(),
                                     "begins a second recording; keep them in files of their own");
            start = unix_date(lines.line().substr(started_on.size()));
        }
        const auto fields = csv_fields(lines.line());
        const auto unit = position_of("Joules", fields);
        if (!unit || *unit + 1 >= fields.size()) continue;
        const Domain* const domain = domain_of(fields[*unit + 1]);
        if (domain == nullptr) continue;
        if (*unit < 2)
            return fail(ErrorCode::invalid_argument, "log it by `perf stat -I 100 -x,`",
                        "`{}` has one total of perf stat, and no times", log.name);
        if (!start && !log.offset_ns)
            return fail(
                ErrorCode::invalid_argument,
                "give --power-offset NS, the Unix time at which perf started; or log by `perf stat -o FILE`",
                "the times in `{}` are counted from the start of perf", log.name);
        if (!log.offset_ns && last.empty())
            out.warn("the start of perf is known to the second only; --power-offset corrects it");
        const auto seconds = real_number(fields[0]);
        const auto joules = real_number(fields[*unit - 1]);
        if (!seconds || *seconds < 0.0 || *seconds > 1e8)
            return out.malformed(lines.number(), "does not begin with seconds");
        const bool by_socket = fields[1].size() > 1 && fields[1][0] == 'S';
        const std::string device = fmt::format("cpu:{}", by_socket ? fields[1].substr(1) : "0");
        const auto end = start.value_or(0) + static_cast<std::int64_t>(*seconds * 1e9);
        std::int64_t& begin =
            last.try_emplace(fmt::format("{} {}", device, domain->event), start.value_or(0)).first->second;
        if (joules)
            out.stretch(device, domain->scope, begin, end, *joules);
        else
            out.warn("intervals that were not counted were left out");
        begin = end;
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat perf_stat_format = {"perf stat", recognises_perf_stat, read_perf_stat};

}  // namespace viridian::meter
