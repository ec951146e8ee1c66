// `perf stat -a -I 100 -e power/energy-pkg/` (perf-stat's manual): seconds since the start, then with
// --per-socket the socket and a count, then the joules of the interval, their unit and the event; between
// blanks, between commas or semicolons (-x, "CSV FORMAT"), or as JSON (-j, "JSON FORMAT"). With -o the first
// line says when perf started, to the second.
//
// | perf stat | `-a -I 100 -e power/energy-pkg/`, plain, `-x,` or `-j` | joules of each interval, by socket
// with `--per-socket` | since its start: `# started on`, or `--power-offset` | `cpu:<socket>` |
#include <array>

#include "viridian/base/json.hpp"
#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr std::string_view rapl_event = "power/energy-";
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

// The fields of a line as in CSV: seconds, perhaps a socket and a count, joules, `Joules`, the event. Those
// of JSON are put into `kept`.
std::vector<std::string_view> perf_fields(std::string_view line, std::vector<std::string>& kept) {
    if (!line.starts_with('{')) {
        for (const char separator : {',', ';'})
            if (line.find(fmt::format("{0}Joules{0}", separator)) != std::string_view::npos)
                return csv_fields(line, separator);
        return words_of(line);
    }
    const Result<Json> json = parse_json(line, "line");
    if (!json.ok() || !json->is_object()) return {};
    kept.clear();
    for (const char* key : {"interval", "socket", "counter-value", "unit", "event"}) {
        const auto found = json->find(key);
        if (found == json->end()) continue;
        kept.push_back(found->is_string() ? found->get<std::string>() : json_dump(*found, -1));
    }
    return {kept.begin(), kept.end()};
}

bool recognises_perf_stat(std::string_view head) {
    for (Lines lines(head); lines.next();)
        if (lines.line().find("Joules") != std::string_view::npos &&
            lines.line().find(rapl_event) != std::string_view::npos)
            return true;
    return false;
}

const Domain* domain_of(std::string_view event) {
    for (const Domain& domain : domains)
        if (domain.event == event) return &domain;
    return nullptr;
}

Result<PowerLog> read_perf_stat(const ForeignText& log) {
    LogBuilder out(log, "perf-stat");
    std::optional<std::int64_t> start;
    std::vector<std::string> kept;
    std::map<std::string, std::int64_t> last;  // end of the interval before, by socket and event
    for (Lines lines(log.text); lines.next();) {
        if (lines.line().starts_with(started_on)) {
            if (start)
                return out.malformed(lines.number(),
                                     "begins a second recording; keep them in files of their own");
            start = unix_date(lines.line().substr(started_on.size()));
        }
        if (lines.line().starts_with('#')) continue;
        const auto fields = perf_fields(lines.line(), kept);
        const auto unit = position_of("Joules", fields);
        if (!unit || *unit + 1 >= fields.size()) continue;
        const Domain* const domain = domain_of(fields[*unit + 1]);
        if (domain == nullptr) continue;
        if (*unit < 2)
            return fail(ErrorCode::invalid_argument, "log it by `perf stat -I 100`",
                        "`{}` has one total of perf stat, and no times", log.name);
        if (!start && !log.offset_ns)
            return fail(
                ErrorCode::invalid_argument,
                "give --power-offset NS, the Unix time at which perf started; or log by `perf stat -o FILE`",
                "the times in `{}` are counted from the start of perf", log.name);
        if (!log.offset_ns && last.empty())
            out.warn("the start of perf is known to the second only; --power-offset corrects it");
        const auto seconds = real_number(fields[0]);
        std::string count(fields[*unit - 1]);  // perf groups digits by commas where the locale does
        if (count.find('.') != std::string::npos) std::erase(count, ',');
        const auto joules = real_number(count);
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
