#include "viridian/search/exact/labels.hpp"

#include <chrono>
#include <cmath>

#include "viridian/search/exact/eliminate.hpp"
#include "viridian/search/exact/label_tables.hpp"

namespace viridian::search {
namespace {

double sum_of(const Direction& direction, double x, double y) {
    return x == infinite || y == infinite ? infinite : direction.of(x, y);
}

// Both sums in one, where only some states are left.
Problem along(const TwoSums& sums, const Direction& direction, const std::vector<std::vector<State>>& left) {
    Problem out;
    for (Variable v = 0; v < left.size(); ++v) {
        std::vector<double> costs;
        for (const State s : left[v])
            costs.push_back(sum_of(direction, sums.x->costs(v)[s], sums.y->costs(v)[s]));
        out.add_variable(std::move(costs));
    }
    for (std::size_t e = 0; e < sums.x->edges().size(); ++e) {
        const Problem::Edge &in_x = sums.x->edges()[e], &in_y = sums.y->edges()[e];
        const auto &rows = left[in_x.a], &columns = left[in_x.b];
        Matrix cost(rows.size(), columns.size());
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t c = 0; c < columns.size(); ++c)
                cost(r, c) =
                    sum_of(direction, in_x.cost(rows[r], columns[c]), in_y.cost(rows[r], columns[c]));
        out.add_cost(in_x.a, in_x.b, cost);
    }
    return out;
}

class PointSearch {
  public:
    PointSearch(TwoSums sums, PointGoal goal, double known, double bound, LabelOptions options)
        : sums_(sums), goal_(std::move(goal)), options_(std::move(options)) {
        best_.value = known;
        best_.bound = bound;
        for (Variable v = 0; v < sums_.x->size(); ++v) {
            left_.emplace_back(sums_.x->states(v));
            for (State s = 0; s < left_[v].size(); ++s) left_[v][s] = s;
        }
    }

    Solution run() {
        bool more = true;
        for (int round = 0; round < 2 && more; ++round)
            for (const Direction& direction : goal_.directions) {
                if (out_of_time()) return finished();
                if (!take_out_states(direction, more)) return best_;
            }
        for (std::size_t most = 512; !out_of_time(); most *= 8) {
            const double before = best_.value;
            const bool whole = pass(std::min(most, options_.most_labels));
            if (whole && proven_) best_.bound = best_.value;
            const double enough = best_.value - options_.tolerance * std::abs(best_.value);
            if (best_.bound >= enough || !whole || most >= options_.most_labels) break;
            if (best_.value < before && !take_out_states(goal_.directions[0], more)) return best_;
        }
        return finished();
    }

  private:
    // How far points may reach that are still better than the best one; rounding set aside.
    double most(const Direction& direction) const {
        if (best_.value == infinite) return infinite;
        const double at = goal_.farthest(direction, best_.value - 1e-11 * std::abs(best_.value));
        return at + 1e-11 * std::abs(at);
    }

    Solution finished() {
        best_.bound = std::min(best_.bound, best_.value);
        return best_;
    }

    bool out_of_time() const {
        if (options_.cancelled && options_.cancelled()) return true;
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
               options_.time_limit.value;
    }

    // False where nothing can be better, or the tables are too large to know.
    bool take_out_states(const Direction& direction, bool& some) {
        const Problem problem = along(sums_, direction, left_);
        const EliminationOrder order = elimination_order(problem);
        if (order.work > options_.most_work) {
            finished();
            return false;
        }
        const LeastCosts costs = least_costs(problem, bucket_tree(problem, order.order));
        const double limit = most(direction);
        some = false;
        for (Variable v = 0; v < left_.size(); ++v) {
            std::size_t kept = 0;
            for (std::size_t s = 0; s < left_[v].size(); ++s)
                if (costs.with[v][s] < limit) left_[v][kept++] = left_[v][s];
            some = some || kept < left_[v].size();
            left_[v].resize(kept);
            if (kept > 0) continue;
            best_.bound = best_.value;
            return false;
        }
        return true;
    }

    // True if it came to its end; `proven_` then says whether nothing was dropped that might be better.
    bool pass(std::size_t most_labels) {
        const Problem x = along(sums_, {1, 0}, left_), y = along(sums_, {0, 1}, left_);
        const EliminationOrder order = elimination_order(x);
        const BucketTree tree = bucket_tree(x, order.order);
        std::vector<Yardstick> yardsticks;
        for (const Direction& direction : goal_.directions)
            yardsticks.push_back(
                {direction, least_costs(along(sums_, direction, left_), tree), most(direction)});
        int calls = 0;
        LabelTables tables({&x, &y}, goal_, tree, yardsticks, most_labels,
                           [&] { return ++calls % 64 == 0 && out_of_time(); });
        if (!tables.run()) return false;
        const LabelTables::Point point = tables.best();
        if (!point.states.empty()) {
            best_.value = goal_.value(point.x, point.y);
            best_.states.clear();
            for (Variable v = 0; v < left_.size(); ++v) best_.states.push_back(left_[v][point.states[v]]);
        }
        proven_ = tables.dropped() >= yardsticks[0].most;
        if (!proven_) raise_bound(tables.dropped());
        return true;
    }

    // No value is lower whose points do not reach as far as what was dropped.
    void raise_bound(double reach) {
        double low = best_.bound, high = best_.value;
        if (!(low > -infinite) || high == infinite) return;
        for (int step = 0; step < 60; ++step) {
            const double middle = low + (high - low) / 2;
            (goal_.farthest(goal_.directions[0], middle) < reach ? low : high) = middle;
        }
        best_.bound = low;
    }

    TwoSums sums_;
    PointGoal goal_;
    LabelOptions options_;
    std::vector<std::vector<State>> left_;  // by variable
    Solution best_;
    bool proven_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Solution least_point(const TwoSums& sums, const PointGoal& goal, double known, double bound,
                     const LabelOptions& options) {
    return PointSearch(sums, goal, known, bound, options).run();
}

}  // namespace viridian::search
