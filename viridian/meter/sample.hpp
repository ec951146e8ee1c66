#pragma once
// Defines Channel and Sample. A channel is one quantity of one device that a meter reads, and a sample is one
// reading of it. Values are integers, as the hardware gives them: microjoules, microwatts, jiffies. The power
// log holds exactly these.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "viridian/base/energy.hpp"

namespace viridian::meter {

enum class Kind : std::uint8_t {
    energy_uj,   // running counter, microjoules
    power_uw,    // instantaneous power, microwatts
    average_uw,  // mean power of the last `window_ns`
    busy_ticks,  // running jiffies: of the recorded process tree (scope `process`), of all (`package`)
    thread_cpu,  // the CPU that thread `tid:<n>` last ran on
};

enum class Scope : std::uint8_t { package, core, uncore, dram, psys, gpu, module, memory, process };

// Return the names in the power log ("energy_uj", "package"), and what a name means; nothing if it is
// unknown.
[[nodiscard]] std::string_view name_of(Kind kind);
[[nodiscard]] std::string_view name_of(Scope scope);
[[nodiscard]] std::optional<Kind> kind_from(std::string_view name);
[[nodiscard]] std::optional<Scope> scope_from(std::string_view name);

struct Channel {
    std::string meter;   // "powercap"; a name that starts with "model" is an estimate
    std::string device;  // as in traces: "cpu:0" is package 0, "cuda:0"; or "tid:<n>"
    Scope scope = Scope::package;
    Kind kind = Kind::energy_uj;
    std::int64_t wrap_uj = 0;  // a counter returns to 0 after this many microjoules; 0: never
    bool logged = false;       // from a power log that does not say by what it was recorded

    bool operator==(const Channel&) const = default;
    [[nodiscard]] bool is_power() const { return kind <= Kind::average_uw; }
    [[nodiscard]] Provenance provenance() const;  // measured:, logged: or estimated:<meter>
};

struct Sample {
    std::uint32_t channel = 0;      // index into the list of channels that travels with the samples
    std::int64_t time_ns = 0;       // Unix time
    std::int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t value = 0;
    std::int64_t window_ns = 0;  // average_uw only; 0 is unknown

    bool operator==(const Sample&) const = default;
};

// A Stamp is a moment by both clocks.
struct Stamp {
    std::int64_t time_ns = 0;       // Unix time
    std::int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
};
// Returns the present moment.
[[nodiscard]] Stamp stamp_now();

}  // namespace viridian::meter
