#include "viridian/profile/one_spell.hpp"

#include <algorithm>
#include <map>

namespace viridian::profile {
namespace {

// What was observed with the threads at some distance before and after.
template <class Value>
struct Observed {
    Value value;
    double before = 0, after = 0;
};

class Spell {
  public:
    Spell(execute::Device& device, std::vector<SpellPlan>& plans, const SpellProtocol& protocol)
        : device_(device), plans_(plans), protocol_(protocol), turns_(plans.size()) {
        for (const SpellPlan& plan : plans) {
            auto& list = keys_.emplace_back();
            for (const plan::Step& step : plan.plan->steps) list.push_back(key(plan, step));
        }
    }

    Result<void> measure() {
        for (SpellPlan& plan : plans_)
            for (int i = 0; i < protocol_.runs.warm_up; ++i)
                VIRIDIAN_TRY(
                    plan.contestant.executable->run(plan.contestant.inputs, plan.contestant.outputs));
        at_ = look();
        const int rounds = protocol_.runs.rounds;
        for (int round = 0; round < rounds || (round < 3 * rounds && !enough(rounds)); ++round)
            for (std::size_t p = 0; p < plans_.size(); ++p) {
                VIRIDIAN_TRY(Turn turn, time_turn(plans_[p].contestant, protocol_.runs.per_turn));
                note(turns_[p], std::move(turn));
                for (std::size_t s = 0; s < keys_[p].size() && round % protocol_.steps_every == 0; ++s) {
                    auto& times = steps_[keys_[p][s]];
                    if (times.size() > static_cast<std::size_t>(round / protocol_.steps_every)) continue;
                    VIRIDIAN_TRY(const execute::Timing timing, time(plans_[p], plans_[p].plan->steps[s]));
                    note(times, timing.median.value);
                }
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
            SpellResult& result = results.emplace_back(SpellResult{ran, {}});
            for (const std::string& key : keys_[results.size() - 1])
                result.steps.push_back(Seconds(summarize(usual(steps_.at(key))).median));
        }
        return results;
    }

  private:
    static std::string key(const SpellPlan& plan, const plan::Step& step) {
        if (step.kind == plan::Step::Kind::kernel)
            return plan::signature(*plan.graph, step.region) + '\n' + step.choice.key();
        const plan::Buffer& from = plan.plan->buffers[step.inputs[0]];
        return fmt::format("convert [{}] {} {}", fmt::join(from.dims, ","), text(from.format),
                           text(plan.plan->buffers[step.outputs[0]].format));
    }

    Result<execute::Timing> time(const SpellPlan& plan, const plan::Step& step) {
        if (step.kind == plan::Step::Kind::kernel)
            return device_.time(*plan.graph, step.region, step.choice, protocol_.steps);
        const plan::Buffer& from = plan.plan->buffers[step.inputs[0]];
        return device_.time_conversion(from.dims, from.format, plan.plan->buffers[step.outputs[0]].format,
                                       protocol_.steps);
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
        const auto few = [&](const auto& list) {
            const auto count = std::ranges::count_if(
                list, [&](const auto& one) { return is_usual(one.before) && is_usual(one.after); });
            return 3 * count < rounds;
        };
        return std::ranges::none_of(turns_, few) &&
               std::ranges::none_of(steps_, [&](const auto& step) { return few(step.second); });
    }

    execute::Device& device_;
    std::vector<SpellPlan>& plans_;
    const SpellProtocol& protocol_;
    std::vector<std::vector<std::string>> keys_;  // of each plan's steps
    std::vector<std::vector<Observed<Turn>>> turns_;
    std::map<std::string, std::vector<Observed<double>>> steps_;
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
