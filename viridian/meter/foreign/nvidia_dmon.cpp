// `nvidia-smi dmon -s p -o DT` (nvidia-smi's manual, "DEVICE MONITORING"): columns between blanks, a header
// of two lines every so often, one row a GPU and second, local time. `pwr` is the mean that `power.draw`
// shows.
//
// | nvidia-smi dmon | `-s p -o DT` | `pwr`: means | local time, s | `cuda:<gpu>` |
#include <algorithm>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

// The names of the columns if `line` is a header: "#Date Time gpu pwr", or "# gpu pwr" without times.
std::optional<std::vector<std::string_view>> dmon_columns(std::string_view line) {
    if (!line.starts_with('#')) return std::nullopt;
    auto names = words_of(line.substr(1));
    if (!position_of("gpu", names)) return std::nullopt;
    return names;
}

bool recognises_dmon(std::string_view head) {
    for (Lines lines(head); lines.next();)
        if (const auto names = dmon_columns(lines.line()); names && position_of("pwr", *names)) return true;
    return false;
}

// "20261124" and "12:00:01".
std::optional<std::int64_t> dmon_time(std::string_view date, std::string_view clock) {
    const bool digits =
        date.size() == 8 && std::ranges::all_of(date, [](char c) { return c >= '0' && c <= '9'; });
    return digits ? unix_date(fmt::format("{}/{}/{} {}", date.substr(0, 4), date.substr(4, 2), date.substr(6),
                                          clock))
                  : unix_date(fmt::format("{} {}", date, clock));
}

Result<PowerLog> read_dmon(const ForeignText& log) {
    LogBuilder out(log, "nvidia-smi");
    std::vector<std::string_view> names;
    for (Lines lines(log.text); lines.next();) {
        if (auto columns = dmon_columns(lines.line())) {
            names = std::move(*columns);
            if (!position_of("Date", names) || !position_of("Time", names))
                return fail(ErrorCode::invalid_argument, "log it by `nvidia-smi dmon -s p -o DT`",
                            "`{}` is a log of nvidia-smi dmon without dates and times", log.name);
            if (!position_of("pwr", names)) return out.malformed(lines.number(), "has no column `pwr`");
            continue;
        }
        if (lines.line().starts_with('#') || names.empty()) continue;  // the line of units
        const auto words = words_of(lines.line());
        const bool whole = words.size() == names.size();
        const auto time =
            whole ? dmon_time(words[*position_of("Date", names)], words[*position_of("Time", names)])
                  : std::nullopt;
        if (!time) {
            if (!lines.whole()) break;
            return out.malformed(lines.number(), "has other columns than the header, or no date");
        }
        if (const auto watts = real_number(words[*position_of("pwr", names)]))
            out.power(fmt::format("cuda:{}", words[*position_of("gpu", names)]), Scope::gpu, Kind::average_uw,
                      *time, *watts);
        else
            out.warn("powers that the GPU does not tell were left out");
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat nvidia_dmon_format = {"nvidia-smi dmon", recognises_dmon, read_dmon};

}  // namespace viridian::meter
