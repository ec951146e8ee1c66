#include "viridian/search/graphs/independent_set.hpp"

#include <algorithm>
#include <numeric>

namespace viridian::search {
namespace {

constexpr std::size_t independent_set_most_steps = 200000;  // of one group: some milliseconds

// Branch and bound over one connected group; the bound is the sum of what is still free.
class Group {
  public:
    Group(const std::vector<double>& gains, const std::vector<std::vector<bool>>& clash,
          std::vector<std::size_t> members)
        : gains_(gains), clash_(clash), members_(std::move(members)) {}

    std::vector<std::size_t> solve() {
        best_ = greedy();
        best_gain_ = sum(best_);
        std::vector<std::size_t> taken;
        follow(taken, 0, members_);
        return best_;
    }

  private:
    [[nodiscard]] double sum(const std::vector<std::size_t>& list) const {
        return std::accumulate(list.begin(), list.end(), 0.0,
                               [&](double total, std::size_t i) { return total + gains_[i]; });
    }
    [[nodiscard]] bool fits(const std::vector<std::size_t>& taken, std::size_t i) const {
        return std::none_of(taken.begin(), taken.end(), [&](std::size_t t) { return clash_[t][i]; });
    }

    // Greatest gain first; then one in, all that clash with it out, and what is free now in, while that
    // gains.
    [[nodiscard]] std::vector<std::size_t> greedy() const {
        std::vector<std::size_t> taken = filled({});
        for (bool better = true; better;) {
            better = false;
            for (const std::size_t i : members_) {
                if (std::find(taken.begin(), taken.end(), i) != taken.end()) continue;
                std::vector<std::size_t> other = {i};
                for (const std::size_t t : taken)
                    if (!clash_[i][t]) other.push_back(t);
                other = filled(std::move(other));
                if (sum(other) > sum(taken) * (1 + 1e-12)) {
                    taken = std::move(other);
                    better = true;
                }
            }
        }
        return taken;
    }
    [[nodiscard]] std::vector<std::size_t> filled(std::vector<std::size_t> taken) const {
        for (const std::size_t i : members_)
            if (std::find(taken.begin(), taken.end(), i) == taken.end() && fits(taken, i)) taken.push_back(i);
        return taken;
    }

    void follow(std::vector<std::size_t>& taken, double gain, const std::vector<std::size_t>& free) {
        if (gain > best_gain_) {
            best_gain_ = gain;
            best_ = taken;
        }
        double rest = sum(free);
        for (std::size_t k = 0; k < free.size(); ++k) {
            if (gain + rest <= best_gain_ * (1 + 1e-12) || ++steps_ > independent_set_most_steps) return;
            std::vector<std::size_t> next;
            for (std::size_t j = k + 1; j < free.size(); ++j)
                if (!clash_[free[k]][free[j]]) next.push_back(free[j]);
            taken.push_back(free[k]);
            follow(taken, gain + gains_[free[k]], next);
            taken.pop_back();
            rest -= gains_[free[k]];
        }
    }

    const std::vector<double>& gains_;
    const std::vector<std::vector<bool>>& clash_;
    std::vector<std::size_t> members_;
    std::vector<std::size_t> best_;
    double best_gain_ = 0;
    std::size_t steps_ = 0;
};

}  // namespace

std::vector<std::size_t> independent_set(const std::vector<double>& gains,
                                         const std::vector<std::vector<bool>>& clash) {
    std::vector<std::size_t> taken;
    std::vector<bool> placed(gains.size(), false);
    for (std::size_t first = 0; first < gains.size(); ++first) {
        if (placed[first]) continue;
        std::vector<std::size_t> members = {first};
        placed[first] = true;
        for (std::size_t next = 0; next < members.size(); ++next)
            for (std::size_t i = 0; i < gains.size(); ++i)
                if (!placed[i] && clash[members[next]][i]) {
                    placed[i] = true;
                    members.push_back(i);
                }
        std::sort(members.begin(), members.end());
        for (const std::size_t i : Group(gains, clash, std::move(members)).solve()) taken.push_back(i);
    }
    std::sort(taken.begin(), taken.end());
    return taken;
}

}  // namespace viridian::search
