// `while sleep 1; do ipmitool dcmi power reading; done` (ipmitool's manual, DCMI): blocks of lines `NAME:
// VALUE`, each with the power of the whole machine and the time of the management controller, to the second.
//
// | IPMI | `ipmitool dcmi power reading`, repeated | instantaneous power of the machine | the controller's
// clock, s | `cpu:0`, scope psys |
#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr std::string_view power_line = "Instantaneous power reading:", time_line = "IPMI timestamp:",
                           state_line = "Power reading state is:";

bool recognises_ipmitool(std::string_view head) { return head.find(power_line) != std::string_view::npos; }

Result<PowerLog> read_ipmitool(const ForeignText& log) {
    LogBuilder out(log, "ipmitool");
    constexpr double unknown = -1.0;  // no power of a machine is negative
    double watts = unknown;
    std::int64_t time = 0;
    for (Lines lines(log.text); lines.next();) {
        const std::string_view line = lines.line();
        if (line.starts_with(power_line)) {
            const auto words = words_of(line.substr(power_line.size()));
            watts = (words.empty() ? std::nullopt : real_number(words[0])).value_or(unknown);
            if (watts < 0.0 && lines.whole()) return out.malformed(lines.number(), "has no number of watts");
            time = 0;
        } else if (line.starts_with(time_line)) {
            time = unix_date(line.substr(time_line.size())).value_or(0);
            if (time == 0 && lines.whole()) return out.malformed(lines.number(), "has no date");
        } else if (line.starts_with(state_line)) {
            if (trimmed(line.substr(state_line.size())) != "activated")
                out.warn("readings of a controller that does not measure were left out");
            else if (watts >= 0.0 && time > 0)
                out.power("cpu:0", Scope::psys, Kind::power_uw, time, watts);
            watts = unknown;
        }
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat ipmitool_format = {"ipmitool", recognises_ipmitool, read_ipmitool};

}  // namespace viridian::meter
