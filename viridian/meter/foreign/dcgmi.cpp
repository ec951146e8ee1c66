// `dcgmi dmon -e 155,156 -d 100` (NVIDIA DCGM, dcgmi's manual; short names in dcgm_fields.cpp): a header that
// begins with `#Entity`, rows `GPU 0  61.35  123456`. The rows have no times, so that `ts` of moreutils must
// add them.
//
// | DCGM | `dcgmi dmon -e 155,156 -d 100 \| ts %.s` | POWER: means; TOTEC: a counter in mJ | that of `ts` |
// `cuda:<entity>` |
#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr std::string_view entity = "Entity";

// The names of the columns, if `line` is the header: behind the time that `ts` put before it.
std::optional<std::vector<std::string_view>> columns_of(std::string_view line) {
    const std::size_t mark = line.find('#');
    if (mark == std::string_view::npos) return std::nullopt;
    auto words = words_of(line.substr(mark + 1));
    if (words.empty() || words[0] != entity) return std::nullopt;
    words.erase(words.begin());
    return words;
}

bool recognises_dcgmi(std::string_view head) {
    for (Lines lines(head); lines.next() && lines.number() < 16;)
        if (columns_of(lines.line())) return true;
    return false;
}

Result<PowerLog> read_dcgmi(const ForeignText& log) {
    LogBuilder out(log, "dcgmi");
    std::optional<std::size_t> power_at, energy_at;
    for (Lines lines(log.text); lines.next();) {
        if (const auto columns = columns_of(lines.line())) {
            power_at = position_of("POWER", *columns);
            energy_at = position_of("TOTEC", *columns);
            if (!power_at && !energy_at) return out.malformed(lines.number(), "has neither POWER nor TOTEC");
            continue;
        }
        const auto words = words_of(lines.line());
        const auto gpu = position_of("GPU", words);
        if (!gpu || *gpu + 2 > words.size()) continue;  // the line of units, other entities
        if (*gpu == 0)
            return fail(ErrorCode::invalid_argument, "log it by `dcgmi dmon -e 155,156 | ts %.s`",
                        "`{}` is a log of dcgmi without times", log.name);
        const std::string_view when = words[*gpu - 1];
        const auto time = unix_seconds(when) ? unix_seconds(when) : unix_date(when);
        if (!time) {
            if (!lines.whole()) break;
            return out.malformed(lines.number(), "does not begin with a time as `ts %.s` writes it");
        }
        const std::string device = fmt::format("cuda:{}", words[*gpu + 1]);
        const auto value = [&](std::optional<std::size_t> at) {
            const bool there = at && *gpu + 2 + *at < words.size();
            return there ? real_number(words[*gpu + 2 + *at]) : std::nullopt;
        };
        if (const auto watts = value(power_at))
            out.power(device, Scope::gpu, Kind::average_uw, *time, *watts);
        if (const auto millijoules = value(energy_at))
            out.counter(device, Scope::gpu, *time, 1e-3 * *millijoules);
        if (!value(power_at) && !value(energy_at))
            out.warn("rows that tell neither power nor energy were left out");
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat dcgmi_format = {"dcgmi", recognises_dcgmi, read_dcgmi};

}  // namespace viridian::meter
