// The file that `ZeusMonitor(log_file=...)` writes (zeus/monitor/energy.py): one row a window, with its begin
// in Unix seconds, its length, and the joules of each GPU. A window inside another one is left out, because
// its joules are in the outer one.
//
// | Zeus | `ZeusMonitor(log_file="zeus.csv")` | joules of each window | Unix seconds | `cuda:<index>` |
#include <algorithm>

#include "viridian/meter/foreign/log_builder.hpp"

namespace viridian::meter {
namespace {

constexpr std::string_view zeus_header = "start_time,window_name,elapsed_time";

struct ZeusWindow {
    std::int64_t begin, end;
    std::vector<double> joules;  // by column of a GPU
};

bool recognises_zeus(std::string_view head) { return head.starts_with(zeus_header); }

Result<PowerLog> read_zeus(const ForeignText& log) {
    LogBuilder out(log, "zeus");
    Lines lines(log.text);
    (void)lines.next();
    const auto names = csv_fields(lines.line());
    std::vector<std::pair<std::size_t, std::string>> gpus;
    for (std::size_t i = 3; i < names.size(); ++i)
        if (names[i].starts_with("gpu") && names[i].ends_with("_energy"))
            gpus.emplace_back(i, fmt::format("cuda:{}", names[i].substr(3, names[i].size() - 10)));
    if (gpus.empty()) return out.malformed(1, "names no energy of a GPU");
    std::vector<ZeusWindow> windows;
    while (lines.next()) {
        const auto fields = csv_fields(lines.line());
        const auto begin = fields.size() == names.size() ? unix_seconds(fields[0]) : std::nullopt;
        const double length =
            (fields.size() == names.size() ? real_number(fields[2]) : std::nullopt).value_or(-1.0);
        ZeusWindow window{begin.value_or(0), begin.value_or(0), {}};
        for (const auto& [at, device] : gpus)
            if (const auto joules = at < fields.size() ? real_number(fields[at]) : std::nullopt)
                window.joules.push_back(*joules);
        if (!begin || length < 0.0 || length > 1e9 || window.joules.size() != gpus.size()) {
            if (!lines.whole()) break;
            return out.malformed(lines.number(), "is no window of Zeus");
        }
        window.end += static_cast<std::int64_t>(length * 1e9);
        windows.push_back(std::move(window));
    }
    std::ranges::stable_sort(windows, [](const ZeusWindow& a, const ZeusWindow& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    for (const ZeusWindow& window : windows)
        for (std::size_t i = 0; i < gpus.size(); ++i)
            out.stretch(gpus[i].second, Scope::gpu, window.begin, window.end, window.joules[i]);
    return out.finish();
}

}  // namespace

extern const ForeignFormat zeus_format = {"Zeus", recognises_zeus, read_zeus};

}  // namespace viridian::meter
