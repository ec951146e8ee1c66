// rooms: meter
// Files of carbon factors: what is read has rows in order, and answers for every time or for none.
#include <cstddef>
#include <cstdint>

#include "viridian/meter/carbon/carbon_factors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto factors = viridian::meter::CarbonFactors::parse(text, "fuzz");
    if (!factors.ok()) return 0;
    if (!(factors->pue() >= 1.0)) __builtin_trap();
    const auto* before = factors->at(INT64_MIN);
    for (std::int64_t second = 1'000'000'000; second < 2'300'000'000; second += 10'000'000) {
        const auto* row = factors->at(second * 1'000'000'000);
        if (row == nullptr) continue;
        if (!(row->grams_per_joule >= 0.0) || row->source.empty()) __builtin_trap();
        if (before != nullptr && row->begin_ns < before->begin_ns) __builtin_trap();
        before = row;
    }
    const auto span = factors->over(1'700'000'000'000'000'000, 1'800'000'000'000'000'000);
    if (span && !(span->least <= span->mean * (1 + 1e-9) && span->mean <= span->most * (1 + 1e-9)))
        __builtin_trap();
    return 0;
}
