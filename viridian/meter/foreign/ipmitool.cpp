// `while sleep 1; do ipmitool dcmi power reading; done` (ipmitool's manual, DCMI): blocks of lines `NAME:
// VALUE`, each with the power of the whole machine and the time of the management controller, to the second.
// FreeIPMI's `ipmi-dcmi --get-system-power-statistics` writes the same with other names.
//
// | IPMI | `ipmitool dcmi power reading`, or `ipmi-dcmi --get-system-power-statistics`, repeated |
// instantaneous power of the machine | the controller's clock, s | `cpu:0`, scope psys |
#include <algorithm>
#include <array>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

// The names of the three lines that count, as each program writes them.
struct PowerReading {
    std::string_view power, time, state, measures;
};
constexpr std::array<PowerReading, 2> power_readings = {
    {{"Instantaneous power reading", "IPMI timestamp", "Power reading state is", "activated"},
     {"Current Power", "Time Stamp", "Power Measurement", "Active"}}};

bool recognises_ipmitool(std::string_view head) {
    for (Lines lines(head); lines.next();)
        for (const PowerReading& one : power_readings)
            if (lines.line().starts_with(one.power) && lines.line().ends_with("Watts")) return true;
    return false;
}

Result<PowerLog> read_ipmitool(const ForeignText& log) {
    LogBuilder out(log, "ipmitool");
    constexpr double unknown = -1.0;  // no power of a machine is negative
    double watts = unknown;
    std::int64_t time = 0;
    for (Lines lines(log.text); lines.next();) {
        const std::string_view line = lines.line();
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string_view name = trimmed(line.substr(0, colon));
        const std::string_view value = trimmed(line.substr(std::min(colon + 1, line.size())));
        for (const PowerReading& one : power_readings) {
            if (name == one.power) {
                const auto words = words_of(value);
                watts = (words.empty() ? std::nullopt : real_number(words[0])).value_or(unknown);
                if (watts < 0.0 && lines.whole())
                    return out.malformed(lines.number(), "has no number of watts");
                time = 0;
            } else if (name == one.time) {
                std::string date(value);  // FreeIPMI: 11/24/2026 - 12:00:00
                if (const std::size_t dash = date.find(" - "); dash != std::string::npos) date.erase(dash, 2);
                time = unix_date(date).value_or(0);
                if (time == 0 && lines.whole()) return out.malformed(lines.number(), "has no date");
            } else if (name == one.state) {
                if (value != one.measures)
                    out.warn("readings of a controller that does not measure were left out");
                else if (watts >= 0.0 && time > 0)
                    out.power("cpu:0", Scope::psys, Kind::power_uw, time, watts);
                watts = unknown;
            }
        }
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat ipmitool_format = {"ipmitool", recognises_ipmitool, read_ipmitool};

}  // namespace viridian::meter
