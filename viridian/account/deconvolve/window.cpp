#include "viridian/account/deconvolve/window.hpp"

namespace viridian::account {

std::vector<Window> windows_of(const PowerCurve& curve) {
    std::vector<Window> windows;
    windows.reserve(curve.segments.size());
    for (const PowerSegment& segment : curve.segments)
        if (!segment.gap)
            windows.push_back(
                {segment.end, segment.end - segment.begin,
                 joules(segment.energy).value / (1e-9 * static_cast<double>(segment.end - segment.begin))});
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
