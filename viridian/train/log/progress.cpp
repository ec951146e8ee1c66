#include "viridian/train/log/progress.hpp"

#include <cmath>

#include "viridian/base/units_text.hpp"

namespace viridian::train {
namespace {

std::string of_all(std::int64_t done, std::int64_t all) {
    return all > 0 ? fmt::format("{}/{}", done, all) : fmt::format("{}", done);
}

// Three digits, or all before the point: 83.1, 1070.
std::string three_digits(double value) {
    return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string duration_text(Seconds seconds) {
    constexpr double most = 1e15;
    if (!(seconds.value >= 0 && seconds.value < most)) return "an unknown time";
    const auto all = static_cast<std::int64_t>(std::llround(seconds.value));
    const std::int64_t s = all % 60, min = all / 60 % 60, h = all / 3600 % 24, days = all / 86400;
    if (days > 0) return fmt::format("{} {} h", counted(days, "day"), h);
    if (h > 0) return fmt::format("{} h {} min", h, min);
    if (min > 0) return fmt::format("{} min {} s", min, s);
    return fmt::format("{} s", s);
}

std::string progress_line(const StepRecord& record) {
    std::string line = "step " + of_all(record.step, record.steps);
    if (record.remaining) line += fmt::format(", {} left", duration_text(*record.remaining));
    line += fmt::format(", loss {:.4g}", record.average_loss.value_or(record.loss));
    if (const auto power = record.power()) {
        const Energy& energy = *record.energy;
        const std::string source = energy.provenance.text();
        line += fmt::format(", {}/step {}, {} to {}, {}", quantity(energy.value.value, "J"),
                            source.substr(0, source.find(':')), quantity(energy.low.value, "J"),
                            quantity(energy.high.value, "J"), quantity(power->value, "W"));
    }
    if (record.seconds.value > 0)
        line += fmt::format(", {} samples/s", three_digits(record.samples_per_second()));
    if (record.epoch > 0) line += ", epoch " + of_all(record.epoch, record.epochs);
    line += fmt::format(", rate {:.3g}", record.rate);
    if (record.gradient_norm) line += fmt::format(", gradient norm {:.3g}", *record.gradient_norm);
    return line;
}

}  // namespace viridian::train
