#include "viridian/search/objective/hull.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "viridian/search/assign/baselines.hpp"
#include "viridian/search/objective/close_gap.hpp"
#include "viridian/search/objective/least_ratio.hpp"
#include "viridian/search/objective/level_set.hpp"
#include "viridian/search/objective/lower_hull.hpp"

namespace viridian::search {
namespace {

constexpr std::size_t most_vertices = 96;
constexpr double as_good = 1e-9;  // a value within this of its bound, relative, is proven
constexpr double tie = 1e-7;      // weight of the other metric at the two ends

bool stopped(const AssignOptions& options) { return options.exact.cancelled && options.exact.cancelled(); }

// Both ends of the falling part.
Result<LowerHull> start_hull(const Instance& instance, const AssignOptions& options, Metric x, Metric y) {
    LowerHull hull(instance, options, x, y);
    VIRIDIAN_TRY(LowerHull::Vertex left, hull.support(1, 0));
    const double ratio = left.y > 0 ? left.x / left.y : 1;
    VIRIDIAN_TRY(left, hull.support(1, tie * ratio));
    VIRIDIAN_TRY(LowerHull::Vertex right, hull.support(tie / ratio, 1));
    hull.insert(std::move(left));
    hull.insert(std::move(right));
    return hull;
}

// Least power: minimise y − p·x, where p is the least ratio so far, until nothing is below zero (Dinkelbach
// 1967).
Result<void> follow_ratio(LowerHull& hull) {
    for (int round = 0; round < 50; ++round) {
        double ratio = infinite;
        for (const auto& v : hull.vertices()) ratio = std::min(ratio, v.y / v.x);
        VIRIDIAN_TRY(LowerHull::Vertex found, hull.support(-ratio, 1));
        if (found.y - ratio * found.x >= -1e-9 * found.y) return {};
        if (!hull.insert(std::move(found))) return {};
    }
    return {};
}

class HullSearch {
  public:
    HullSearch(const Instance& instance, const Objective& objective, const Metrics& start,
               const AssignOptions& options)
        : instance_(instance), objective_(objective), start_(start), options_(options) {}

    Result<Outcome> run() {
        choose_axes();
        VIRIDIAN_TRY(LowerHull hull, start_hull(instance_, options_, x_, y_));
        if (objective_.uses(Metric::power)) VIRIDIAN_TRY(follow_ratio(hull));
        for (const auto& vertex : hull.vertices()) consider(vertex.outcome);
        while (hull.vertices().size() < most_vertices && !stopped(options_) && hull.left() > Seconds(0)) {
            // The open piece below which most may lie.
            std::size_t best = hull.pieces();
            double least = near_enough();
            for (std::size_t i = 0; i < hull.pieces(); ++i)
                if (const double here = floor_of(hull, i); !hull.closed(i) && here < least) {
                    least = here;
                    best = i;
                }
            if (best == hull.pieces()) break;
            VIRIDIAN_TRY(const bool found, hull.refine(best));
            if (found)
                for (const auto& vertex : hull.vertices()) consider(vertex.outcome);
        }
        double bound = hull.proven() ? infinite : bound_by_lines(hull);
        for (std::size_t i = 0; i < hull.pieces() && hull.proven(); ++i)
            bound = std::min(bound, floor_of(hull, i));
        for (const auto& vertex : hull.vertices())
            if (objective_.within_limit(vertex.outcome.totals, start_))
                bound = std::min(bound, objective_.value(vertex.outcome.totals, start_));
        if (bound < near_enough()) {
            SolveOptions brief = options_.exact;
            brief.time_limit = std::min(brief.time_limit, Seconds(2));
            consider_others(brief);
            if (!best_) return no_plan();
            for (const std::size_t distance : {1, 2})
                if (bound < near_enough())
                    if (const auto better = improve(instance_, *best_, objective_, start_, distance, brief);
                        better.ok())
                        consider(*better);
            if (hull.proven() && hull.pieces() > 0 && bound < near_enough()) {
                AssignOptions rest = options_;
                rest.exact.time_limit = std::min(rest.exact.time_limit, std::max(hull.left(), Seconds(1)));
                const ClosedGap closed = close_gap(instance_, objective_, start_, rest, gap(hull, bound));
                if (closed.better) consider(*closed.better);
                bound = std::max(bound, closed.bound);
            }
        }
        if (!best_) return no_plan();
        best_->assignment.solver = exact_solver.name;
        best_->assignment.value = objective_.value(best_->totals, start_);
        best_->assignment.bound = std::min(bound, best_->assignment.value);
        if (best_->assignment.gap() <= as_good * std::abs(best_->assignment.value))
            best_->assignment.bound = best_->assignment.value;
        best_->start = start_;
        return std::move(*best_);
    }

  private:
    Error no_plan() const {
        return fail(ErrorCode::missing_entry, "allow more with a larger factor before `x`",
                    "no plan was found that keeps the limit of `{}`", text(objective_));
    }

    void choose_axes() {
        const std::vector<Metric> metrics = weighed(objective_);
        x_ = metrics.front();
        if (metrics.size() > 1)
            y_ = metrics[1];
        else
            y_ = x_ == Metric::time ? Metric::energy : Metric::time;
    }

    // Where the bound comes this near, a better plan is not worth looking for.
    double near_enough() const {
        const double most = limit(), share = std::max(options_.exact.tolerance, as_good);
        return most == infinite ? infinite : most - share * std::abs(most);
    }

    double limit() const { return best_ ? objective_.value(best_->totals, start_) * (1 - 1e-12) : infinite; }

    void consider(const Outcome& outcome) {
        if (!objective_.within_limit(outcome.totals, start_)) return;
        if (!best_ || objective_.value(outcome.totals, start_) < objective_.value(best_->totals, start_))
            best_ = outcome;
    }

    Metrics at(double x, double y) const {
        Metrics point;
        amount(x_, point) = x;
        amount(y_, point) = y;
        return point;
    }

    // The least value between two points. Along a line products fall or rise, and so does y/x; with what is
    // linear a mix is then convex, or concave and least at an end.
    double least_between(std::pair<double, double> a, std::pair<double, double> b) const {
        const auto value = [&](double t) {
            return objective_.value(
                at(a.first + t * (b.first - a.first), a.second + t * (b.second - a.second)), start_);
        };
        double low = 0, high = 1, least = std::min(value(0), value(1));
        for (int step = 0; step < 100; ++step) {
            const double left = low + (high - low) / 3, right = high - (high - low) / 3;
            (value(left) < value(right) ? high : low) = value(left) < value(right) ? right : left;
            least = std::min(least, value((low + high) / 2));
        }
        return least - 1e-12 * std::abs(least);
    }

    // No plan in this piece's stretch of x is below this.
    double floor_of(const LowerHull& hull, std::size_t i) const {
        const auto &a = hull.vertices()[i], &b = hull.vertices()[i + 1];
        if (!hull.closed(i)) {  // anywhere above the lower of the two; x may pull either way
            const double y = std::min(a.y, b.y);
            if (!objective_.within_limit(at(a.x, y), start_) && !objective_.within_limit(at(b.x, y), start_))
                return infinite;
            return least_between({a.x, y}, {b.x, y});
        }
        const auto point = [&](double t) { return std::pair(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)); };
        const auto inside = [&](double t) {
            const auto [x, y] = point(t);
            return objective_.within_limit(at(x, y), start_);
        };
        double from = 0, to = 1;  // the part of the piece that keeps the limit, a little too long
        if (!inside(0) && !inside(1)) return infinite;
        for (int step = 0; step < 60 && inside(0) != inside(1); ++step) {
            const double middle = (from + to) / 2;
            (inside(middle) == inside(0) ? from : to) = middle;
        }
        if (inside(0) != inside(1)) (inside(0) ? from : to) = inside(0) ? 0 : 1;
        return least_between(point(from), point(to));
    }

    // Where not every vertex is the optimum of its problem, these problems' bounds still hold.
    double bound_by_lines(const LowerHull& hull) const {
        (void)hull.support(0, 1);  // far to the right it is all that bounds y
        std::vector<SupportLine> lines = hull.lines();
        if (lines.empty() || lines.front().wy != 0) return -infinite;
        const double from = lines.front().bound, to = 20 * hull.vertices().back().x;
        if (!(from > 0)) return -infinite;
        lines.push_back({-least_ratio(instance_, x_, y_) * (1 - 1e-9), 1, 0});
        return least_above(lines, LevelSet(objective_, start_, x_, from, to, 0), from, to);
    }

    // Left of the hull's first vertex there is no plan, and none right of its last is better.
    OpenGap gap(const LowerHull& hull, double bound) const {
        OpenGap out{x_, y_, limit(), bound, infinite, 0, infinite, {}};
        std::vector<std::pair<double, Direction>> open;
        for (std::size_t i = 0; i < hull.pieces(); ++i) {
            const auto &a = hull.vertices()[i], &b = hull.vertices()[i + 1];
            const double least = floor_of(hull, i);
            if (!(least < limit())) continue;
            open.push_back({least, {hull.closed(i) ? a.y - b.y : 0, hull.closed(i) ? b.x - a.x : 1}});
            out.from = std::min(out.from, a.x * (1 - 1e-6));
            out.to = std::max(out.to, b.x * (1 + 1e-6));
        }
        for (const auto& vertex : hull.vertices()) out.least_y = std::min(out.least_y, vertex.y * (1 - 1e-6));
        std::stable_sort(open.begin(), open.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [least, direction] : open) out.directions.push_back(direction);
        return out;
    }

    // What the other solvers find: `exact` is never worse.
    void consider_others(const SolveOptions& brief) {
        if (const auto first = solve_first(instance_); first.ok()) consider(*first);
        if (const auto greedy = solve_greedy(instance_, objective_, start_, options_.distance, brief);
            greedy.ok())
            consider(*greedy);
    }

    const Instance& instance_;
    const Objective& objective_;
    const Metrics& start_;
    const AssignOptions& options_;
    Metric x_ = Metric::time, y_ = Metric::energy;
    std::optional<Outcome> best_;
};

}  // namespace

Result<Outcome> solve_on_hull(const Instance& instance, const Objective& objective, const Metrics& start,
                              const AssignOptions& options) {
    return HullSearch(instance, objective, start, options).run();
}

Result<Frontier> frontier(const Instance& instance, const AssignOptions& options,
                          const FrontierOptions& limits) {
    VIRIDIAN_TRY(LowerHull hull, start_hull(instance, options, Metric::time, Metric::energy));
    const auto area = [&](std::size_t i) {
        const auto &a = hull.vertices()[i], &b = hull.vertices()[i + 1];
        return hull.closed(i) ? 0 : (b.x - a.x) * std::abs(a.y - b.y) / 2;
    };
    while (hull.vertices().size() < limits.most_vertices && !stopped(options)) {
        std::size_t widest = hull.pieces();
        for (std::size_t i = 0; i < hull.pieces(); ++i)
            if (!hull.closed(i) && (widest == hull.pieces() || area(i) > area(widest))) widest = i;
        if (widest == hull.pieces()) break;
        VIRIDIAN_TRY(const bool found, hull.refine(widest));
        if (found && limits.progress) limits.progress(hull.vertices().size());
    }
    Frontier out;
    for (std::size_t i = 0; i < hull.pieces(); ++i) out.unresolved += area(i);
    const auto &first = hull.vertices().front(), &last = hull.vertices().back();
    const double all = (last.x - first.x) * std::abs(first.y - last.y);
    out.unresolved = all > 0 ? out.unresolved / all : 0;
    if (!hull.proven()) out.unresolved = 1;
    for (const auto& vertex : hull.vertices()) out.vertices.push_back(vertex.outcome);
    return out;
}

Frontier merged(Frontier a, Frontier b) {
    std::vector<Outcome> all = std::move(a.vertices);
    std::ranges::move(b.vertices, std::back_inserter(all));
    std::ranges::sort(all, {}, [](const Outcome& plan) {
        return std::pair(plan.totals.seconds.value, plan.totals.joules.value);
    });
    // Whether `middle` lies on the line between its neighbours or above it.
    const auto bulges = [](const Metrics& left, const Metrics& middle, const Metrics& right) {
        return (middle.seconds - left.seconds).value * (right.joules - left.joules).value <=
               (middle.joules - left.joules).value * (right.seconds - left.seconds).value;
    };
    Frontier out;
    out.unresolved = std::max(a.unresolved, b.unresolved);
    for (Outcome& plan : all) {
        std::vector<Outcome>& hull = out.vertices;
        if (!hull.empty() && plan.totals.joules >= hull.back().totals.joules) continue;
        while (hull.size() > 1 && bulges(hull[hull.size() - 2].totals, hull.back().totals, plan.totals))
            hull.pop_back();
        hull.push_back(std::move(plan));
    }
    return out;
}

}  // namespace viridian::search
