#include "viridian/profile/one_spell.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

#include "viridian/execute/in_turn.hpp"

namespace viridian::profile {
namespace {

// What was observed with the threads at some distance before and after.
template <class Value>
struct Observed {
    Value value;
    double before = 0, after = 0;
};

double total(const execute::Rotation& rotation) {
    return std::accumulate(rotation.steps.begin(), rotation.steps.end(), 0.0);
}

// Means of the steps over the middle half of the rotations by their sums: these add up to what is usual of a
// sum, as sums of the steps' medians would not. Calm ones, where there are a few.
std::vector<Seconds> middle_steps(std::vector<execute::Rotation> rotations) {
    constexpr std::ptrdiff_t few = 7;
    const auto disturbed =
        std::ranges::partition(rotations, [](const execute::Rotation& one) { return one.calm; });
    if (disturbed.begin() - rotations.begin() >= few) rotations.erase(disturbed.begin(), disturbed.end());
    std::ranges::sort(rotations, {}, total);
    const std::size_t skip = rotations.size() / 4;
    const std::span middle = std::span(rotations).subspan(skip, rotations.size() - 2 * skip);
    std::vector<Seconds> steps(rotations.front().steps.size());
    for (const execute::Rotation& rotation : middle)
        for (std::size_t s = 0; s < steps.size(); ++s)
            steps[s] += Seconds(rotation.steps[s] / static_cast<double>(middle.size()));
    return steps;
}

class Spell {
  public:
    Spell(execute::Device& device, std::vector<SpellPlan>& plans, const SpellProtocol& protocol)
        : device_(device), plans_(plans), protocol_(protocol), turns_(plans.size()), steps_(plans.size()) {}

    Result<void> measure() {
        std::vector<std::unique_ptr<execute::InTurn>> apart;
        for (const SpellPlan& plan : plans_) {
            VIRIDIAN_TRY(apart.emplace_back(), device_.in_turn(*plan.graph, *plan.plan));
        }
        for (SpellPlan& plan : plans_)
            for (int i = 0; i < protocol_.runs.warm_up; ++i)
                VIRIDIAN_TRY(
                    plan.contestant.executable->run(plan.contestant.inputs, plan.contestant.outputs));
        at_ = look();
        const int rounds = protocol_.runs.rounds;
        for (int round = 0; round < rounds || (round < 3 * rounds && !enough(rounds)); ++round)
            for (std::size_t p = 0; p < plans_.size(); ++p) {
                const Seconds per_turn = protocol_.runs.per_turn;
                VIRIDIAN_TRY(Turn turn, time_turn(plans_[p].contestant, per_turn, per_turn));
                note(turns_[p], std::move(turn));
                if (round % protocol_.steps_every != 0) continue;
                VIRIDIAN_TRY(std::vector<execute::Rotation> rotations, rotate(*apart[p]));
                note(steps_[p], std::move(rotations));
            }
        return {};
    }

    [[nodiscard]] std::vector<SpellResult> results() const {
        std::vector<Turn> turns;
        for (const auto& list : turns_) {
            Turn& all = turns.emplace_back();
            for (const Turn& turn : usual(list)) all.add(turn);
        }
        std::vector<SpellResult> results;
        for (const Summary& ran : summarize_turns(turns)) {
            std::vector<execute::Rotation> all;
            for (auto& some : usual(steps_[results.size()])) std::ranges::move(some, std::back_inserter(all));
            results.push_back({ran, middle_steps(std::move(all))});
        }
        return results;
    }

  private:
    // As long as a turn of runs. The first one meets the caches as somebody else left them (time_turn).
    [[nodiscard]] Result<std::vector<execute::Rotation>> rotate(execute::InTurn& steps) const {
        using Clock = std::chrono::steady_clock;
        VIRIDIAN_TRY(execute::Rotation first, steps.rotation());
        std::vector<execute::Rotation> rotations;
        if (total(first) >= protocol_.runs.per_turn.value) rotations.push_back(std::move(first));
        const auto begin = Clock::now();
        while (rotations.size() < 2 ||
               std::chrono::duration<double>(Clock::now() - begin).count() < protocol_.runs.per_turn.value) {
            VIRIDIAN_TRY(rotations.emplace_back(), steps.rotation());
        }
        return rotations;
    }

    double look() {
        const double distance = device_.hand_over().value;
        distances_.push_back(distance);
        return distance;
    }

    template <class Value>
    void note(std::vector<Observed<Value>>& list, Value value) {
        const double before = at_;
        at_ = look();
        list.push_back({std::move(value), before, at_});
    }

    // Between core complexes of one socket it takes about four times as long as inside one.
    [[nodiscard]] bool is_usual(double distance) const {
        const double middle = summarize(distances_).median;
        return middle <= 2 * distance && distance <= 2 * middle;
    }

    // All, where nothing was usual.
    template <class Value>
    [[nodiscard]] std::vector<Value> usual(const std::vector<Observed<Value>>& list) const {
        std::vector<Value> some, all;
        for (const Observed<Value>& one : list) {
            all.push_back(one.value);
            if (is_usual(one.before) && is_usual(one.after)) some.push_back(one.value);
        }
        return some.empty() ? all : some;
    }

    [[nodiscard]] bool enough(int rounds) const {
        const auto few = [&](const auto& list, int every) {
            const auto count = std::ranges::count_if(
                list, [&](const auto& one) { return is_usual(one.before) && is_usual(one.after); });
            return 3 * every * count < rounds;
        };
        return std::ranges::none_of(turns_, [&](const auto& list) { return few(list, 1); }) &&
               std::ranges::none_of(steps_,
                                    [&](const auto& list) { return few(list, protocol_.steps_every); });
    }

    execute::Device& device_;
    std::vector<SpellPlan>& plans_;
    const SpellProtocol& protocol_;
    std::vector<std::vector<Observed<Turn>>> turns_;  // of each plan
    std::vector<std::vector<Observed<std::vector<execute::Rotation>>>> steps_;
    std::vector<double> distances_;
    double at_ = 0;
};

}  // namespace

Seconds SpellResult::predicted() const {
    Seconds sum;
    for (const Seconds step : steps) sum += step;
    return sum;
}

Result<std::vector<SpellResult>> measure_in_one_spell(execute::Device& device, std::vector<SpellPlan>& plans,
                                                      const SpellProtocol& protocol) {
    Spell spell(device, plans, protocol);
    VIRIDIAN_TRY(spell.measure());
    return spell.results();
}

}  // namespace viridian::profile
