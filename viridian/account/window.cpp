#include "viridian/account/window.hpp"

namespace viridian::account {

std::vector<Window> windows_of(const Steps& steps) {
    std::vector<Window> windows;
    windows.reserve(steps.steps.size());
    for (const Step& step : steps.steps)
        if (!step.gap)
            windows.push_back(
                {step.end, step.end - step.begin,
                 joules(step.energy).value / (1e-9 * static_cast<double>(step.end - step.begin))});
    return windows;
}

std::vector<Window> windows_of(const meter::Series& series) {
    std::vector<Window> windows;
    for (std::size_t i = 1; i < series.readings.size(); ++i)
        if (series.readings[i].value != series.readings[i - 1].value)
            windows.push_back(
                {series.readings[i].time_ns, 0, 1e-6 * static_cast<double>(series.readings[i].value)});
    return windows;
}

}  // namespace viridian::account
