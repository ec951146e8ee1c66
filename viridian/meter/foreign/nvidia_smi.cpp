// `nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -lms 100` (nvidia-smi's manual, "SELECTIVE
// QUERY OPTIONS"): a header with units in brackets, one row a GPU and time, local time with milliseconds.
// Since Ampere `power.draw` is a mean whose window the log does not tell.
//
// | nvidia-smi | `--query-gpu=timestamp,index,power.draw --format=csv` | `power.draw`, `power.draw.average`:
// means; `power.draw.instant` | local time, ms | `cuda:<index>` |
#include <array>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

struct PowerField {
    std::string_view name;
    Kind kind;
};
constexpr std::array<PowerField, 3> power_fields = {{{"power.draw", Kind::average_uw},
                                                     {"power.draw.average", Kind::average_uw},
                                                     {"power.draw.instant", Kind::power_uw}}};

// "power.draw [W]" -> "power.draw"
std::vector<std::string_view> header_names(std::string_view line) {
    std::vector<std::string_view> names = csv_fields(line);
    for (std::string_view& name : names) name = trimmed(name.substr(0, name.find('[')));
    return names;
}

bool recognises_nvidia_smi(std::string_view head) {
    Lines lines(head);
    if (!lines.next()) return false;
    const auto names = header_names(lines.line());
    return position_of("timestamp", names) && lines.line().find("power.draw") != std::string_view::npos;
}

// Numbers the GPUs as they appear if the log names them by something else than an index.
class GpuNumbers {
  public:
    explicit GpuNumbers(const std::vector<std::string_view>& names) : column_(position_of("index", names)) {
        for (const char* name : {"pci.bus_id", "gpu_bus_id", "uuid", "gpu_uuid", "serial", "gpu_serial"})
            if (!column_) column_ = position_of(name, names), named_ = column_.has_value();
    }
    [[nodiscard]] bool known() const { return column_.has_value(); }
    std::string device(const std::vector<std::string_view>& fields) {
        if (!column_) return "cuda:0";
        const std::string text(fields[*column_]);
        if (!named_) return "cuda:" + text;
        return fmt::format("cuda:{}", numbers_.try_emplace(text, numbers_.size()).first->second);
    }

  private:
    std::optional<std::size_t> column_;
    bool named_ = false;
    std::map<std::string, std::size_t> numbers_;
};

Result<PowerLog> read_nvidia_smi(const ForeignText& log) {
    LogBuilder out(log, "nvidia-smi");
    Lines lines(log.text);
    (void)lines.next();
    const std::string_view header = lines.line();
    const auto names = header_names(header);
    const std::size_t time_at = *position_of("timestamp", names);
    GpuNumbers gpus(names);
    if (!gpus.known()) out.warn("the log has no column `index`: all rows are taken for cuda:0");
    while (lines.next()) {
        if (lines.line() == header) continue;  // the logger was started again
        const auto fields = csv_fields(lines.line());
        const auto time = fields.size() == names.size() ? unix_date(fields[time_at]) : std::nullopt;
        if (!time) {
            if (!lines.whole()) break;
            return out.malformed(lines.number(), "does not have the header's fields, or has no date");
        }
        for (const PowerField& power : power_fields) {
            const auto at = position_of(power.name, names);
            if (!at) continue;
            std::string_view value = fields[*at];
            if (value.ends_with(" W")) value.remove_suffix(2);
            if (const auto watts = real_number(value))
                out.power(gpus.device(fields), Scope::gpu, power.kind, *time, *watts);
            else
                out.warn("powers that the GPU does not tell were left out");
        }
    }
    return out.finish();
}

}  // namespace

extern const ForeignFormat nvidia_smi_format = {"nvidia-smi", recognises_nvidia_smi, read_nvidia_smi};

}  // namespace viridian::meter
