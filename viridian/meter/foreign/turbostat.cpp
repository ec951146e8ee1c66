// `turbostat --interval 0.1 --show Time_Of_Day_Seconds,Package,PkgWatt,RAMWatt` (turbostat's manual): columns
// between tabs, a header before the first interval or before each, a summary row with `-` for the package,
// then rows of CPUs. Only the first CPU of a package tells the package's power; other rows are shorter. With
// --Joules the columns hold the energy of the interval (Pkg_J).
//
// | turbostat | `--show Time_Of_Day_Seconds,Package,PkgWatt,RAMWatt`, `--Joules` | mean power, or joules, of
// each interval | Unix seconds | `cpu:<package>` |
#include <array>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

struct Column {
    std::string_view name;
    Scope scope;
    bool joules;
};
constexpr std::array<Column, 8> turbostat_columns = {{{"PkgWatt", Scope::package, false},
                                                      {"RAMWatt", Scope::dram, false},
                                                      {"GFXWatt", Scope::uncore, false},
                                                      {"SysWatt", Scope::psys, false},
                                                      {"Pkg_J", Scope::package, true},
                                                      {"RAM_J", Scope::dram, true},
                                                      {"GFX_J", Scope::uncore, true},
                                                      {"Sys_J", Scope::psys, true}}};

bool is_header(const std::vector<std::string_view>& words) {
    for (const Column& column : turbostat_columns)
        if (position_of(column.name, words)) return true;
    return false;
}

bool recognises_turbostat(std::string_view head) {
    for (Lines lines(head); lines.next();)
        if (is_header(words_of(lines.line()))) return true;
    return false;
}

class TurbostatReader {
  public:
    explicit TurbostatReader(const ForeignText& log) : log_(log), out_(log, "turbostat") {}

    Result<PowerLog> read() {
        for (Lines lines(log_.text); lines.next();) {
            const auto words = words_of(lines.line());
            if (is_header(words)) {
                header_ = words;
                time_at_ = position_of("Time_Of_Day_Seconds", words);
                package_at_ = position_of("Package", words);
                if (!time_at_)
                    return fail(ErrorCode::invalid_argument, "add `--show Time_Of_Day_Seconds` to turbostat",
                                "`{}` is a log of turbostat without times", log_.name);
                continue;
            }
            if (header_.empty() || words.size() != header_.size()) continue;  // a CPU that tells no power
            if (package_at_ && words[*package_at_] == "-") continue;          // the sum of all packages
            const auto time = unix_seconds(words[*time_at_]);
            if (!time) {
                if (!lines.whole()) break;
                return out_.malformed(lines.number(), "has no Unix time");
            }
            row(words, *time);
        }
        return out_.finish();
    }

  private:
    void row(const std::vector<std::string_view>& words, std::int64_t time) {
        const std::string device = fmt::format("cpu:{}", package_at_ ? words[*package_at_] : "0");
        for (const Column& column : turbostat_columns) {
            const auto at = position_of(column.name, header_);
            const auto value = at ? real_number(words[*at]) : std::nullopt;
            if (!value) continue;
            const auto [before, first] = last_.try_emplace(fmt::format("{} {}", device, column.name), time);
            if (!column.joules)
                out_.power(device, column.scope, Kind::average_uw, time, *value, time - before->second);
            else if (first)
                out_.warn("the first interval was left out: its begin is not known");
            else
                out_.stretch(device, column.scope, before->second, time, *value);
            before->second = time;
        }
    }

    const ForeignText& log_;
    LogBuilder out_;
    std::vector<std::string_view> header_;
    std::optional<std::size_t> time_at_, package_at_;
    std::map<std::string, std::int64_t> last_;  // time of the row before, by device and column
};

Result<PowerLog> read_turbostat(const ForeignText& log) { return TurbostatReader(log).read(); }

}  // namespace

extern const ForeignFormat turbostat_format = {"turbostat", recognises_turbostat, read_turbostat};

}  // namespace viridian::meter
