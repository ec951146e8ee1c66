// rooms: trace
// What recording one event costs: two stamps and a record, as an executor does around a step.
#include <fmt/format.h>

#include <chrono>

#include "viridian/trace/record/recorder.hpp"

int main() {
    using namespace viridian::trace;
    constexpr std::uint32_t events = 1U << 20U;
    Recorder recorder(1, events);
    const NameId name = recorder.about().names.add("step");
    for (int round = 0; round < 5; ++round) {
        recorder.clear();
        const auto begin = std::chrono::steady_clock::now();
        for (std::uint32_t i = 0; i < events; ++i) {
            const auto start = Recorder::now();
            recorder.record(0, name, start, Recorder::now());
        }
        const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
        fmt::print("{:.1f} ns per event\n", spent.count() / events);
    }
}
