// rooms: train gradient
// Texts of options of a training run: schedules, patterns, weight decays, metrics, drawings; and its log. Any
// text is a value that can be used, or an error.
#include <cmath>
#include <cstddef>

#include "viridian/gradient/parameters/decay.hpp"
#include "viridian/gradient/parameters/pattern.hpp"
#include "viridian/train/log/line_log.hpp"
#include "viridian/train/metric/metric.hpp"
#include "viridian/train/schedule/schedule.hpp"
#include "viridian/train/weights/initialise.hpp"

using namespace viridian::gradient;
using namespace viridian::train;

namespace {

void require(bool holds) {
    if (!holds) __builtin_trap();
}

void check_schedule(std::string_view text) {
    const auto schedule = parse_schedule(text);
    if (!schedule.ok()) return;
    const auto again = parse_schedule(schedule->text());
    require(again.ok() && *again == *schedule);
    for (const RunLength& run : {RunLength{1, 1}, RunLength{1000, 10}, RunLength{7, 100}})
        for (const std::int64_t step : {0, 1, 6, 999, 100'000}) {
            const double factor = schedule->factor(step, run);
            require(std::isfinite(factor) && factor >= 0 && factor <= 1e6);
        }
}

// The pattern is what comes before the first blank, the name what follows it.
void check_matching(std::string_view text) {
    const auto blank = text.find(' ');
    const std::string_view pattern = text.substr(0, blank);
    const std::string_view name =
        blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
    if (!check_pattern(pattern).ok()) return;
    const bool matched = matches(pattern, name);
    const std::string longer = std::string(pattern) + "*";
    require(!matched || matches(longer, std::string(name) + "x"));
    if (const auto rule = parse_decay_rule(std::string(pattern) + "=0.5"); rule.ok())
        require(!matched || decay_of(name, 2, 0.1, {&*rule, 1}).value == 0.5);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_schedule(text);
    check_matching(text);
    if (const auto rule = parse_decay_rule(text); rule.ok()) require(rule->decay >= 0);
    if (const auto metric = parse_metric(text); metric.ok()) require(parse_metric(metric->name()).ok());
    if (const auto drawing = parse_drawing(text); drawing.ok()) require(drawing->deviation >= 0);
    const std::string_view lines = lines_until(text, 5);
    require(lines.data() == text.data() && lines_until(lines, 5) == lines);
    return 0;
}
