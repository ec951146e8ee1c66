// Prices that decide, timed again.
#include <algorithm>

#include "viridian/profile/on_demand.hpp"

namespace viridian::profile {
namespace {

constexpr int rounds = 4;
constexpr double share_of_budget = 1.0 / 6;  // of one choice, in each round
constexpr std::int64_t at_least = 3;         // timings of one choice, in each round
constexpr double apart = 1.25;               // occasions of a price; farther ones are timed anew, once

// What one choice took on several occasions. The middle one is the estimate, and all of them span its
// interval, so that an occasion that something else disturbed moves neither far.
struct Occasions {
    std::vector<Seconds> medians;
    std::vector<Energy> energies;
    Seconds minimum{1e30};
    std::int64_t count = 0;

    // Adds an occasion whose seconds are `factor` times as long in the state of the others.
    void add(const cost::Entry& entry, double factor) {
        medians.push_back(entry.median * factor);
        minimum = std::min(minimum, entry.minimum * factor);
        count += entry.count;
        if (entry.energy) energies.push_back(*entry.energy);
    }
    void merge_into(cost::Entry& entry) {
        std::ranges::sort(medians);
        entry.median = medians[(medians.size() - 1) / 2];
        entry.low = medians.front();
        entry.high = medians.back();
        entry.minimum = minimum;
        entry.count = count;
        entry.looks = static_cast<std::int64_t>(medians.size());
        if (energies.empty()) return;
        std::ranges::sort(energies, {}, &Energy::value);
        entry.energy = energies[(energies.size() - 1) / 2];
        entry.energy->low = std::ranges::min(energies, {}, &Energy::low).low;
        entry.energy->high = std::ranges::max(energies, {}, &Energy::high).high;
        entry.energy_looks += rounds;
    }
};

}  // namespace

Result<std::size_t> OnDemand::confirm(const graph::Graph& graph,
                                      const std::vector<plan::AssignedRegion>& contenders) {
    struct Doubtful {
        const plan::AssignedRegion* contender;
        std::string subject;
        Work work;
        cost::Entry entry;
        cost::ProbeTimes probes;  // to which all occasions are brought
        Occasions occasions;
    };
    VIRIDIAN_TRY(await_fast_state());
    const cost::ProbeTimes state = calibration_.last();
    std::vector<Doubtful> list;
    for (const plan::AssignedRegion& contender : contenders) {
        const std::string subject = plan::signature(graph, contender.region);
        VIRIDIAN_TRY(auto entry, database_.get(key(subject, contender.choice.key())));
        if (!entry || !is_complete(*entry)) continue;
        const bool agree = entry->looks != rounds + 1 || entry->high <= apart * entry->low;
        const bool stays = agree && !slower(entry->probes, state, slow_spell);
        if (stays && entry->looks > 1 && (!energy_.meter || entry->energy_looks > 1)) continue;
        const Work work = Work::of(graph, contender.region);
        const cost::ProbeTimes probes = stays && entry->probes.known() ? entry->probes : state;
        list.push_back({&contender, subject, work, *std::move(entry), probes, {}});
        if (stays) list.back().occasions.add(list.back().entry, 1);
    }
    const execute::TimingProtocol protocol = {options_.protocol.precision,
                                              options_.protocol.budget * share_of_budget, at_least,
                                              options_.protocol.cached_weights};
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < list.size(); ++i) {
            VIRIDIAN_TRY(look());
            Doubtful& doubtful = list[i];
            VIRIDIAN_TRY(check_cancelled());
            const plan::AssignedRegion& contender = *doubtful.contender;
            VIRIDIAN_TRY(cost::Entry now, timed(graph, contender.region, contender.choice, protocol));
            if (energy_.meter) {
                VIRIDIAN_TRY(now.energy, metered(graph, contender.region, contender.choice, now));
            }
            doubtful.occasions.add(now, Drift{now.probes, doubtful.probes}.factor(doubtful.work));
            if (progress)
                progress(fmt::format("close choices again, {} of {}", round * list.size() + i + 1,
                                     rounds * list.size()));
        }
    for (Doubtful& doubtful : list) {
        doubtful.occasions.merge_into(doubtful.entry);
        doubtful.entry.probes = doubtful.probes;
        VIRIDIAN_TRY(database_.put(key(doubtful.subject, doubtful.contender->choice.key()), doubtful.entry));
        known_.erase(doubtful.subject);
    }
    counts_.again += static_cast<std::int64_t>(list.size());
    return list.size();
}

}  // namespace viridian::profile
