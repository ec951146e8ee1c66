#include "viridian/meter/sample.hpp"

#include <array>
#include <ctime>

namespace viridian::meter {
namespace {

constexpr std::array<std::string_view, 5> kinds = {"energy_uj", "power_uw", "average_uw", "busy_ticks",
                                                   "thread_cpu"};
constexpr std::array<std::string_view, 9> scopes = {"package", "core",   "uncore", "dram",   "psys",
                                                    "gpu",     "module", "memory", "process"};

template <class Enum, std::size_t n>
std::optional<Enum> find(const std::array<std::string_view, n>& names, std::string_view name) {
    for (std::size_t i = 0; i < n; ++i)
        if (names[i] == name) return static_cast<Enum>(i);
    return std::nullopt;
}

std::int64_t read(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::string_view name_of(Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Scope scope) { return scopes[static_cast<std::size_t>(scope)]; }
std::optional<Kind> kind_from(std::string_view name) { return find<Kind>(kinds, name); }
std::optional<Scope> scope_from(std::string_view name) { return find<Scope>(scopes, name); }

Provenance Channel::provenance() const {
    return {meter.starts_with("model") ? Provenance::Kind::estimated
            : logged                   ? Provenance::Kind::logged
                                       : Provenance::Kind::measured,
            meter};
}

Stamp stamp_now() {
    // A preemption between the two reads would look like a step of the clock: keep the tightest of a few.
    Stamp best;
    std::int64_t tightest = INT64_MAX;
    for (int attempt = 0; attempt < 4 && tightest > 2'000; ++attempt) {
        const std::int64_t before = read(CLOCK_MONOTONIC);
        const std::int64_t real = read(CLOCK_REALTIME);
        const std::int64_t after = read(CLOCK_MONOTONIC);
        if (after - before < tightest) {
            tightest = after - before;
            best = {real, before + (after - before) / 2};
        }
    }
    return best;
}

}  // namespace viridian::meter
