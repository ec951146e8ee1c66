// How missing prices are timed and metered.
#include <algorithm>
#include <thread>

#include "viridian/profile/on_demand.hpp"

namespace viridian::profile {
namespace {

// Prices are timed again if a probe changed by more than this share meanwhile.
constexpr double other_state = 0.15;
constexpr std::chrono::milliseconds pause{50};

cost::Entry to_entry(const execute::Timing& timing) {
    cost::Entry entry;
    entry.minimum = timing.minimum;
    entry.median = timing.median;
    entry.low = timing.low;
    entry.high = timing.high;
    entry.count = timing.count;
    entry.workspace = timing.workspace;
    return entry;
}

execute::Timing to_timing(const cost::Entry& entry) {
    return {entry.minimum, entry.median, entry.low, entry.high, entry.count, entry.workspace};
}

}  // namespace

Result<void> OnDemand::look() {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - looked_).count() <
        options_.probe_every.value)
        return {};
    constexpr int most_looks = 5;
    cost::ProbeTimes seen = calibration_.last();
    VIRIDIAN_TRY(calibration_.look());
    for (int looks = 1; looks < most_looks && calibration_.last().known(); ++looks) {
        if (seen.known() && alike(seen, calibration_.last(), other_state)) break;
        seen = calibration_.last();
        VIRIDIAN_TRY(calibration_.look());
    }
    looked_ = std::chrono::steady_clock::now();
    return {};
}

Result<void> OnDemand::await_fast_state() {
    VIRIDIAN_TRY(look());
    if (!fastest_) {
        VIRIDIAN_TRY(fastest_, database_.fastest_probes(device_.fingerprint(), device_.threads()));
    }
    if (!fastest_->known()) fastest_ = calibration_.last();
    const auto start = std::chrono::steady_clock::now();
    const Seconds before = waited_;
    while (slower(calibration_.last(), *fastest_, slow_spell) && waited_ < options_.patience) {
        VIRIDIAN_TRY(check_cancelled());
        if (progress) progress("waiting while the machine is slower than when other prices were taken");
        std::this_thread::sleep_for(pause);
        looked_ = {};
        VIRIDIAN_TRY(look());
        waited_ =
            before + Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    fastest_ = {std::min(fastest_->arithmetic, calibration_.last().arithmetic),
                std::min(fastest_->memory, calibration_.last().memory)};
    return {};
}

Result<cost::ProbeTimes> OnDemand::in_one_state(const std::function<Result<void>()>& time) {
    constexpr int most_attempts = 3;
    for (int attempt = 1;; ++attempt) {
        VIRIDIAN_TRY(await_fast_state());
        const cost::ProbeTimes before = calibration_.last();
        VIRIDIAN_TRY(time());
        VIRIDIAN_TRY(look());
        if (attempt == most_attempts || alike(before, calibration_.last(), other_state))
            return between(before, calibration_.last());
    }
}

Result<cost::Entry> OnDemand::timed(const graph::Graph& graph, const plan::Region& region,
                                    const plan::Choice& choice, const execute::TimingProtocol& protocol) {
    VIRIDIAN_TRY(check_cancelled());
    const auto start = std::chrono::steady_clock::now();
    const plan::Region timed_region = permissive(region);
    VIRIDIAN_TRY(const plan::Choice own, own_choice(graph, timed_region, choice));
    execute::Timing timing;
    const auto time_once = [&]() -> Result<void> {
        VIRIDIAN_TRY(timing, device_.time(graph, timed_region, own, protocol));
        return {};
    };
    VIRIDIAN_TRY(const cost::ProbeTimes probes, in_one_state(time_once));
    count_measuring(start);
    cost::Entry entry = to_entry(timing);
    entry.probes = probes;
    return entry;
}

void OnDemand::count_measuring(std::chrono::steady_clock::time_point start) {
    counts_.measuring +=
        Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

Result<Energy> OnDemand::metered(const graph::Graph& graph, const plan::Region& region,
                                 const plan::Choice& choice, const cost::Entry& entry) {
    VIRIDIAN_TRY(check_cancelled());
    const auto start = std::chrono::steady_clock::now();
    const plan::Region timed_region = permissive(region);
    VIRIDIAN_TRY(const plan::Choice own, own_choice(graph, timed_region, choice));
    VIRIDIAN_TRY(const Energy energy,
                 energy_.measure(to_timing(entry), [&](Seconds at_least, const execute::Window& window) {
                     return device_.repeat(graph, timed_region, own, options_.protocol, at_least, window);
                 }));
    count_measuring(start);
    return energy;
}

Result<plan::Choice> OnDemand::own_choice(const graph::Graph& graph, const plan::Region& region,
                                          const plan::Choice& choice) {
    if (own_lists_.contains(plan::signature(graph, region))) return choice;
    const bool bf16 = options_.allowances.find("bf16") != std::string::npos;
    if (auto own = device_.offered(graph, region, choice, bf16)) return *std::move(own);
    return fail(ErrorCode::malformed, "move the file away, or choose another with --db",
                "the cost database lists a kernel that this device does not have there: {}", choice.key());
}

// A quick look at all that are missing, then a long one at those that may win, then joules.
Result<void> OnDemand::price_missing(const graph::Graph& graph, const plan::Region& region,
                                     const std::string& subject, const std::vector<plan::Choice>& list,
                                     const std::vector<std::size_t>& missing,
                                     std::vector<std::optional<cost::Entry>>& entries) {
    std::vector<std::size_t> untimed;  // beside the seconds of others stand another meter's joules, or none
    std::ranges::copy_if(missing, std::back_inserter(untimed), [&](std::size_t i) { return !entries[i]; });
    const execute::TimingProtocol quick = {0.1, options_.protocol.budget / 8, 3,
                                           options_.protocol.cached_weights};
    const auto time_all = [&]() -> Result<void> {
        for (const std::size_t i : untimed) {
            VIRIDIAN_TRY(entries[i], timed(graph, region, list[i], quick));
            if (progress) progress(fmt::format("{} {}", graph.node(region.nodes.front()).op, list[i].kernel));
        }
        Seconds best(1e30);
        for (const auto& entry : entries)
            if (entry) best = std::min(best, entry->minimum);
        for (const std::size_t i : untimed) {
            if (entries[i]->minimum.value > options_.worth_timing * best.value) continue;
            VIRIDIAN_TRY(entries[i], timed(graph, region, list[i], options_.protocol));
        }
        return {};
    };
    if (!untimed.empty()) {
        VIRIDIAN_TRY(in_one_state(time_all));
    }
    for (const std::size_t i : missing) {
        if (energy_.meter) {
            VIRIDIAN_TRY(entries[i]->energy, metered(graph, region, list[i], *entries[i]));
            entries[i]->energy_looks = 1;
        }
        VIRIDIAN_TRY(database_.put(key(subject, list[i].key()), *entries[i]));
    }
    return {};
}

Result<cost::Entry> OnDemand::priced_conversion(const graph::Dims& dims, const plan::Format& from,
                                                const plan::Format& to, std::optional<cost::Entry> entry) {
    VIRIDIAN_TRY(check_cancelled());
    const auto time = [&]() -> Result<void> {
        VIRIDIAN_TRY(const execute::Timing timing,
                     device_.time_conversion(dims, from, to, options_.protocol));
        entry = to_entry(timing);
        return {};
    };
    if (!entry) {
        VIRIDIAN_TRY(entry->probes, in_one_state(time));
    }
    if (energy_.meter) {
        const auto repeat = [&](Seconds at_least, const execute::Window& window) {
            return device_.repeat_conversion(dims, from, to, at_least, window);
        };
        VIRIDIAN_TRY(entry->energy, energy_.measure(to_timing(*entry), repeat));
        entry->energy_looks = 1;
    }
    return *std::move(entry);
}

}  // namespace viridian::profile
