// Joules of a piece of work, with their interval and where they come from.
#include <viridian/viridian.hpp>

#include <chrono>
#include <cstdio>

int main() {
    const auto busy = [] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
        while (std::chrono::steady_clock::now() < end) {
        }
    };
    const auto measured = viridian::v1::measure(busy);
    if (!measured) return std::fprintf(stderr, "%s\n", measured.error().text().c_str()), 1;
    const viridian::v1::Energy& energy = measured->energy;
    std::printf("%.3g J [%.3g, %.3g] in %.2f s, %s\n", energy.joules, energy.low, energy.high,
                measured->seconds, energy.provenance.c_str());
}
