// Prices that decide, timed again.
#include <algorithm>

#include "viridian/profile/on_demand.hpp"

namespace viridian::profile {
namespace {

constexpr int rounds = 4;
constexpr double share_of_budget = 1.0 / 6;  // of one choice, in each round
constexpr std::int64_t at_least = 3;         // timings of one choice, in each round

// One occasion each: the middle one is the estimate, and they span its interval. An occasion that something
// else disturbed moves neither far.
void merge(cost::Entry& entry, std::vector<Seconds> medians, Seconds minimum, std::int64_t count) {
    medians.push_back(entry.median);
    std::ranges::sort(medians);
    const Seconds before = entry.median;
    entry.median = medians[(medians.size() - 1) / 2];
    entry.low = medians.front();
    entry.high = medians.back();
    entry.minimum = std::min(entry.minimum, minimum);
    entry.count += count;
    entry.looks += rounds;
    const double factor = before.value > 0 ? entry.median.value / before.value : 1;  // of the same watts
    for (Joules* joules : {&entry.energy.value, &entry.energy.low, &entry.energy.high})
        *joules = Joules(joules->value * factor);
}

}  // namespace

Result<std::size_t> OnDemand::confirm(const graph::Graph& graph,
                                      const std::vector<plan::AssignedRegion>& contenders) {
    struct Doubtful {
        const plan::AssignedRegion* contender;
        std::string subject;
        cost::Entry entry;
        std::vector<Seconds> medians;
        Seconds minimum{1e30};
        std::int64_t count = 0;
    };
    std::vector<Doubtful> list;
    for (const plan::AssignedRegion& contender : contenders) {
        const std::string subject = plan::signature(graph, contender.region);
        VIRIDIAN_TRY(auto entry, database_.get(key(subject, contender.choice.key())));
        if (entry && entry->looks == 1) list.push_back({&contender, subject, *std::move(entry), {}});
    }
    const execute::TimingProtocol protocol = {options_.protocol.precision,
                                              options_.protocol.budget * share_of_budget, at_least,
                                              options_.protocol.cached_weights};
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < list.size(); ++i) {
            Doubtful& doubtful = list[i];
            VIRIDIAN_TRY(check_cancelled());
            const plan::AssignedRegion& contender = *doubtful.contender;
            VIRIDIAN_TRY(const cost::Entry now, timed(graph, contender.region, contender.choice, protocol));
            doubtful.medians.push_back(now.median);
            doubtful.minimum = std::min(doubtful.minimum, now.minimum);
            doubtful.count += now.count;
            if (progress)
                progress(fmt::format("close choices again, {} of {}", round * list.size() + i + 1,
                                     rounds * list.size()));
        }
    for (Doubtful& doubtful : list) {
        merge(doubtful.entry, std::move(doubtful.medians), doubtful.minimum, doubtful.count);
        VIRIDIAN_TRY(database_.put(key(doubtful.subject, doubtful.contender->choice.key()), doubtful.entry));
        known_.erase(doubtful.subject);
    }
    counts_.again += static_cast<std::int64_t>(list.size());
    return list.size();
}

}  // namespace viridian::profile
