#include "viridian/pipeline/network.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace viridian::pipeline {
namespace {

// (stage, micro-batch, kind) -> unit number.
class Finder {
  public:
    explicit Finder(const Schedule& schedule)
        : stages_(schedule.stages), micro_batches_(schedule.micro_batches), split_(schedule.split_backward) {
        unit_.assign(at(stages_ * micro_batches_ * (split_ ? 3 : 2)), -1);
    }
    [[nodiscard]] std::int32_t& operator()(Kind kind, std::int64_t stage, std::int64_t micro_batch) {
        return unit_[at((static_cast<std::int64_t>(kind) * stages_ + stage) * micro_batches_ + micro_batch)];
    }
    [[nodiscard]] const std::vector<std::int32_t>& all() const { return unit_; }

  private:
    std::int64_t stages_, micro_batches_;
    bool split_;
    std::vector<std::int32_t> unit_;
};

Result<void> check_sizes(const Schedule& schedule, const Profile& profile) {
    if (schedule.stages < 1 || schedule.micro_batches < 1 || schedule.ranks.empty())
        return fail(ErrorCode::malformed, "give at least one stage, one micro-batch and one rank",
                    "the schedule `{}` is empty", schedule.name);
    const std::int64_t units =
        std::int64_t{schedule.stages} * schedule.micro_batches * (schedule.split_backward ? 3 : 2);
    if (std::max(units, schedule.size()) > most_units)
        return fail(ErrorCode::limit_exceeded, "use fewer stages or micro-batches",
                    "the schedule has {} units, more than the {} that fit", units, most_units);
    if (profile.size() != schedule.stages)
        return fail(ErrorCode::mismatch, "profile every stage once, or choose other --ranks or --chunks",
                    "the schedule has {} stages, the profile {}", schedule.stages, profile.size());
    if (schedule.split_backward && profile.stages[0].of(Kind::weight).empty())
        return fail(ErrorCode::missing_entry,
                    "add `weight` rows, or split the backward by --weight-share 0.5",
                    "the schedule `{}` has weight units, the profile has no weight rows", schedule.name);
    return {};
}

Result<void> number_units(const Schedule& schedule, Finder& find, Network& network) {
    std::int32_t number = 0;
    for (const auto& rank : schedule.ranks) {
        network.rank_begin.push_back(number);
        for (const Unit& unit : rank) {
            if (unit.stage < 0 || unit.stage >= schedule.stages || unit.micro_batch < 0 ||
                unit.micro_batch >= schedule.micro_batches)
                return fail(ErrorCode::malformed, "units are numbered from 0",
                            "{} lies outside {} stages and {} micro-batches", unit.text(), schedule.stages,
                            schedule.micro_batches);
            if (unit.kind == Kind::weight && !schedule.split_backward)
                return fail(ErrorCode::malformed, "write `I` for backward where weight units stand alone",
                            "{} appears, but backward units are whole", unit.text());
            if (unit.kind != Kind::reduce) {
                std::int32_t& slot = find(unit.kind, unit.stage, unit.micro_batch);
                if (slot >= 0)
                    return fail(ErrorCode::malformed, "run every unit once", "{} appears twice", unit.text());
                slot = number;
            }
            ++number;
        }
    }
    network.rank_begin.push_back(number);
    const int last = schedule.split_backward ? 3 : 2;
    for (int k = 0; k < last; ++k)
        for (int s = 0; s < schedule.stages; ++s)
            for (int m = 0; m < schedule.micro_batches; ++m)
                if (find(static_cast<Kind>(k), s, m) < 0)
                    return fail(ErrorCode::missing_entry, "run every unit once", "{} is missing",
                                Unit{s, m, static_cast<Kind>(k)}.text());
    return {};
}

Result<void> connect(const Schedule& schedule, const Profile& profile, Finder& find, Network& network) {
    const std::size_t units = at(network.rank_begin.back());
    network.dependency.assign(units, -1);
    network.delay.assign(units, 0);
    network.curve_of.assign(units, 0);
    network.first_.assign(units, 0);
    std::vector<std::int32_t> home(at(std::int64_t{schedule.stages} * schedule.micro_batches), -1);
    const auto home_of = [&](int s, int m) -> std::int32_t& {
        return home[at(std::int64_t{s} * schedule.micro_batches + m)];
    };
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r)
        for (const Unit& unit : schedule.ranks[r])
            if (unit.kind == Kind::forward)
                home_of(unit.stage, unit.micro_batch) = static_cast<std::int32_t>(r);

    std::vector<std::int32_t> curve_of_kind(at(std::int64_t{schedule.stages} * kinds));
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        const auto& rank = schedule.ranks[r];
        const Watts wait = rank.empty() ? Watts(0) : profile.stages[at(rank[0].stage)].wait;
        network.wait.push_back(wait);
        if (!rank.empty()) network.first_[at(network.rank_begin[r])] = 1;
        std::fill(curve_of_kind.begin(), curve_of_kind.end(), -1);
        for (std::size_t i = 0; i < rank.size(); ++i) {
            const auto [s, m, kind, overlapped] = rank[i];
            const std::size_t u = at(network.rank_begin[r]) + i;
            if (kind != Kind::reduce && home_of(s, m) != static_cast<std::int32_t>(r))
                return fail(ErrorCode::malformed, "keep a micro-batch's units of one stage on one rank",
                            "{} runs on rank {}, its forward on rank {}", rank[i].text(), r, home_of(s, m));
            std::int32_t& curve = curve_of_kind[at(std::int64_t{s} * kinds + static_cast<int>(kind))];
            if (curve < 0) {
                curve = static_cast<std::int32_t>(network.curves.size());
                network.curves.push_back(kind == Kind::reduce
                                             ? fixed_curve(to_nanoseconds(profile.all_reduce), wait)
                                             : make_curve(profile.stages[at(s)].of(kind), wait));
                network.rank_of.push_back(static_cast<std::int32_t>(r));
            }
            network.curve_of[u] = curve;
            int from = s;  // the stage the data comes from
            if (kind == Kind::forward && s > 0) network.dependency[u] = find(Kind::forward, from = s - 1, m);
            if (kind == Kind::weight) network.dependency[u] = find(Kind::backward, s, m);
            if (kind == Kind::backward)
                network.dependency[u] = s + 1 == schedule.stages ? find(Kind::forward, s, m)
                                                                 : find(Kind::backward, from = s + 1, m);
            if (from != s && !profile.transfer.empty() && home_of(from, m) != static_cast<std::int32_t>(r))
                network.delay[u] = to_nanoseconds(profile.transfer[at(std::min(from, s))]);
        }
    }
    return {};
}

// Runs every rank as far as it can go, again and again; what remains waits for itself.
Result<void> sort(const Schedule& schedule, Network& network) {
    const std::size_t ranks = schedule.ranks.size();
    std::vector<std::int32_t> next(network.rank_begin.begin(), network.rank_begin.end() - 1);
    std::vector<std::uint8_t> done(network.dependency.size(), 0);
    std::vector<std::int32_t> waiter(network.dependency.size(), -1);  // unit -> rank that waits for it
    std::vector<std::int32_t> chained(ranks, -1);  // rank -> next rank waiting for the same unit
    std::vector<std::int32_t> ready(ranks);
    for (std::size_t r = 0; r < ranks; ++r) ready[r] = static_cast<std::int32_t>(ranks - 1 - r);
    network.order.reserve(network.dependency.size());
    while (!ready.empty()) {
        const std::size_t r = at(ready.back());
        ready.pop_back();
        for (std::int32_t& u = next[r]; u < network.rank_begin[r + 1]; ++u) {
            const std::int32_t needed = network.dependency[at(u)];
            if (needed >= 0 && done[at(needed)] == 0) {
                chained[r] = std::exchange(waiter[at(needed)], static_cast<std::int32_t>(r));
                break;
            }
            done[at(u)] = 1;
            network.order.push_back(u);
            for (std::int32_t w = std::exchange(waiter[at(u)], -1); w >= 0;
                 w = std::exchange(chained[at(w)], -1))
                ready.push_back(w);
        }
    }
    if (network.order.size() == network.dependency.size()) return {};
    for (std::size_t r = 0; r < ranks; ++r) {
        if (next[r] == network.rank_begin[r + 1]) continue;
        const Unit& stuck = schedule.ranks[r][at(next[r] - network.rank_begin[r])];
        const std::int32_t needed = network.dependency[at(next[r])];
        const auto owner = std::upper_bound(network.rank_begin.begin(), network.rank_begin.end(), needed) - 1;
        const std::size_t other = at(owner - network.rank_begin.begin());
        return fail(ErrorCode::malformed, "reorder the units so that data flows",
                    "the schedule deadlocks: on rank {}, {} waits for {} of rank {}, which never runs", r,
                    stuck.text(), schedule.ranks[other][at(needed - *owner)].text(), other);
    }
    return {};
}

}  // namespace

Watts Network::total_wait() const {
    Watts sum;
    for (const Watts w : wait) sum += w;
    return sum;
}

Result<Network> make_network(const Schedule& schedule, const Profile& profile) {
    VIRIDIAN_TRY(check_sizes(schedule, profile));
    Network network;
    Finder find(schedule);
    VIRIDIAN_TRY(number_units(schedule, find, network));
    VIRIDIAN_TRY(connect(schedule, profile, find, network));
    VIRIDIAN_TRY(sort(schedule, network));
    return network;
}

Timing evaluate(const Network& network, std::span<const Nanoseconds> duration,
                std::span<const Nanoseconds> gap) {
    Timing timing;
    timing.start.resize(duration.size());
    for (const std::int32_t u : network.order) {
        Nanoseconds start = 0;
        if (const int p = network.before(u); p >= 0)
            start = timing.start[at(p)] + duration[at(p)] + (gap.empty() ? 0 : gap[at(u)]);
        if (const std::int32_t d = network.dependency[at(u)]; d >= 0)
            start = std::max(start, timing.start[at(d)] + duration[at(d)] + network.delay[at(u)]);
        timing.start[at(u)] = start;
        timing.makespan = std::max(timing.makespan, start + duration[at(u)]);
    }
    return timing;
}

std::vector<Nanoseconds> latest_finish(const Network& network, std::span<const Nanoseconds> duration,
                                       Nanoseconds deadline) {
    std::vector<Nanoseconds> finish(duration.size(), deadline);
    for (auto u = network.order.rbegin(); u != network.order.rend(); ++u) {
        const Nanoseconds start = finish[at(*u)] - duration[at(*u)];
        if (const int p = network.before(*u); p >= 0) finish[at(p)] = std::min(finish[at(p)], start);
        if (const std::int32_t d = network.dependency[at(*u)]; d >= 0)
            finish[at(d)] = std::min(finish[at(d)], start - network.delay[at(*u)]);
    }
    return finish;
}

std::vector<Nanoseconds> fastest_durations(const Network& network) {
    std::vector<Nanoseconds> duration(at(network.size()));
    for (int u = 0; u < network.size(); ++u) duration[at(u)] = network.curve(u).fastest();
    return duration;
}

std::vector<Nanoseconds> slowest_durations(const Network& network) {
    std::vector<Nanoseconds> duration(at(network.size()));
    for (int u = 0; u < network.size(); ++u) duration[at(u)] = network.curve(u).slowest();
    return duration;
}

}  // namespace viridian::pipeline
