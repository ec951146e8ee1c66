#include "viridian/meter/characterise/response.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace viridian::meter {
namespace {

constexpr double grain = 2e-4;  // s, of the tabulated load
constexpr std::size_t most_grains = 10'000'000;
constexpr std::size_t most_observations = 6000;
constexpr double longest_lag = 1.5;
constexpr std::array windows = {0.0, 0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.075,
                                0.1, 0.15,  0.2,   0.3,   0.4,  0.5,   0.7,  0.85,  1.0,  1.25, 1.5,  2.0};

struct Point {
    Shape shape;
    double window, lag, misfit;
};

class Load {
  public:
    explicit Load(std::span<const LoadStep> steps) {
        const double span = 1e-9 * static_cast<double>(steps.back().time_ns - steps.front().time_ns) + 4.0;
        const auto grains = std::min(most_grains, static_cast<std::size_t>(span / grain));
        level_.reserve(grains);
        sum_.assign(1, 0.0);
        std::size_t step = 0;
        double last = steps.front().load;
        for (std::size_t i = 0; i < grains; ++i) {  // mean load of each grain
            const double from = static_cast<double>(i) * grain, to = from + grain;
            double covered = from, total = 0.0;
            while (step + 1 < steps.size() && at(steps, step + 1) < to) {
                const double edge = std::max(covered, at(steps, step + 1));
                total += last * (edge - covered);
                covered = edge;
                last = steps[++step].load;
            }
            total += last * (to - covered);
            level_.push_back(total / grain);
            sum_.push_back(sum_.back() + total);
        }
    }
    // Mean load over [begin, end]; before the first and after the last step it holds.
    [[nodiscard]] double mean(double begin, double end) const {
        const double width = std::max(end - begin, grain);
        return (integral(end) - integral(end - width)) / width;
    }
    [[nodiscard]] std::vector<double> decay(double constant) const {
        std::vector<double> out(level_.size());
        const double keep = std::exp(-grain / std::max(constant, grain));
        double now = level_.front();
        for (std::size_t i = 0; i < level_.size(); ++i) out[i] = now = level_[i] + keep * (now - level_[i]);
        return out;
    }
    static double look(const std::vector<double>& table, double time) {
        const double place = std::clamp(time / grain - 1.0, 0.0, static_cast<double>(table.size() - 1));
        const auto i = std::min(static_cast<std::size_t>(place), table.size() - 2);
        const double part = place - static_cast<double>(i);
        return table[i] + part * (table[i + 1] - table[i]);
    }

  private:
    static double at(std::span<const LoadStep> steps, std::size_t i) {
        return 1e-9 * static_cast<double>(steps[i].time_ns - steps.front().time_ns);
    }
    [[nodiscard]] double integral(double time) const {
        if (time <= 0.0) return level_.front() * time;
        const double place = time / grain;
        const double last = static_cast<double>(level_.size());
        if (place >= last) return sum_.back() + level_.back() * (time - last * grain);
        const auto i = static_cast<std::size_t>(place);
        return sum_[i] + level_[i] * (time - static_cast<double>(i) * grain);
    }
    std::vector<double> level_, sum_;
};

struct Fit {
    double misfit = HUGE_VAL, total = 0.0, offset = 0.0, slope = 0.0;
};

// The best line from load to watts, left-out block apart. Power does not fall with load.
template <class Of>
Fit line(std::span<const Observation> all, const Of& load_of, std::size_t out_begin, std::size_t out_end) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i >= out_begin && i < out_end) continue;
        const double x = load_of(all[i]), y = all[i].watts;
        n += 1;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
    }
    if (n < 3) return {};
    const double xx = sxx - sx * sx / n, xy = sxy - sx * sy / n, yy = syy - sy * sy / n;
    const double slope = xx > 1e-12 && xy > 0.0 ? xy / xx : 0.0;
    return {std::max(0.0, yy - slope * xy), yy, (sy - slope * sx) / n, slope};
}

class Search {
  public:
    Search(std::span<const Observation> all, const Load& load, bool counter)
        : all_(all), load_(load), counter_(counter) {}

    [[nodiscard]] Fit fit(const Point& p, std::span<const Observation> some, std::size_t out_begin = 0,
                          std::size_t out_end = 0) const {
        if (counter_)
            return line(
                some, [&](const Observation& o) { return load_.mean(o.since - p.lag, o.time - p.lag); },
                out_begin, out_end);
        if (p.shape == Shape::decay) {
            const std::vector<double> table = load_.decay(p.window);
            return line(
                some, [&](const Observation& o) { return Load::look(table, o.time - p.lag); }, out_begin,
                out_end);
        }
        return line(
            some, [&](const Observation& o) { return load_.mean(o.time - p.lag - p.window, o.time - p.lag); },
            out_begin, out_end);
    }

    // Every window and lag, on a part of the readings; the best few that are no neighbours.
    [[nodiscard]] std::vector<Point> grid(Shape shape) const {
        std::vector<Observation> some;
        const std::size_t stride = std::max<std::size_t>(1, all_.size() / 1200);
        for (std::size_t i = 0; i < all_.size(); i += stride) some.push_back(all_[i]);
        std::vector<Point> points;
        for (const double window : windows) {
            if (shape == Shape::decay && window < 0.005) continue;
            if (counter_ && window > 0.0) break;
            std::vector<double> table;
            if (shape == Shape::decay) table = load_.decay(window);
            for (double lag = -0.05; lag < longest_lag; lag += lag < 0.3 ? 0.004 : 0.02) {
                const Point p{shape, window, lag, 0.0};
                const double misfit =
                    shape == Shape::decay
                        ? line(
                              std::span<const Observation>(some),
                              [&](const Observation& o) { return Load::look(table, o.time - lag); }, 0, 0)
                              .misfit
                        : fit(p, some).misfit;
                points.push_back({shape, window, lag, misfit});
            }
        }
        std::sort(points.begin(), points.end(),
                  [](const Point& a, const Point& b) { return a.misfit < b.misfit; });
        std::vector<Point> best;
        for (const Point& p : points) {
            const bool near = std::any_of(best.begin(), best.end(), [&](const Point& b) {
                return std::abs(p.lag - b.lag) < 0.03 &&
                       std::abs(p.window - b.window) < 0.3 * b.window + 0.004;
            });
            if (!near) best.push_back(p);
            if (best.size() == 4) break;
        }
        return best;
    }

    // Downhill by shrinking steps in lag, window, and both against each other (a longer window ends later).
    [[nodiscard]] Point descend(Point p, double step, std::size_t out_begin = 0,
                                std::size_t out_end = 0) const {
        constexpr std::array<std::array<double, 2>, 8> moves = {
            {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -0.5}, {-1, 0.5}, {1, -1}, {-1, 1}}};
        p.misfit = fit(p, all_, out_begin, out_end).misfit;
        const double finest = p.shape == Shape::decay ? 4e-4 : 2e-5;
        while (step > finest) {
            bool moved = false;
            for (const auto& [dw, dl] : moves) {
                if (counter_ && dw != 0.0) continue;
                Point q = p;
                q.window = std::max(0.0, p.window + dw * step);
                q.lag = p.lag + dl * step;
                q.misfit = fit(q, all_, out_begin, out_end).misfit;
                if (q.misfit < p.misfit * (1.0 - 1e-9)) {
                    p = q;
                    moved = true;
                }
            }
            if (!moved) step *= 0.5;
        }
        return p;
    }

  private:
    std::span<const Observation> all_;
    const Load& load_;
    bool counter_;
};

}  // namespace

Response fit_response(std::span<const Observation> observations, std::span<const LoadStep> load,
                      bool counter) {
    Response out;
    if (observations.size() < 20 || load.size() < 2) return out;
    std::vector<Observation> fewer;  // fast meters tell more than it takes
    const std::size_t stride = (observations.size() + most_observations - 1) / most_observations;
    for (std::size_t i = 0; i < observations.size(); i += stride) fewer.push_back(observations[i]);
    observations = fewer;
    const Load table(load);
    const Search search(observations, table, counter);
    std::vector<Point> tops = search.grid(Shape::mean);
    if (!counter)
        for (const Point& p : search.grid(Shape::decay)) tops.push_back(p);
    Point best{Shape::mean, 0.0, 0.0, HUGE_VAL};
    for (Point p : tops) {
        p = search.descend(p, 0.008);
        // A decay must be clearly better: a mean is what makers describe.
        const double handicap = p.shape == best.shape || !std::isfinite(best.misfit) ? 1.0
                                : p.shape == Shape::decay                            ? 0.7
                                                                                     : 1.0 / 0.7;
        if (p.misfit < handicap * best.misfit) best = p;
    }
    const Fit fit = search.fit(best, observations);
    if (fit.total <= 0.0 || fit.slope <= 0.0) return out;
    out = {best.shape,  best.window,
           best.lag,    best.window,
           best.window, best.lag,
           best.lag,    1.0 - fit.misfit / fit.total,
           fit.offset,  fit.offset + fit.slope};
    constexpr std::size_t blocks = 10;
    std::array<double, 2> mean{}, square{};
    for (std::size_t b = 0; b < blocks; ++b) {
        const Point p = search.descend(best, 0.002, observations.size() * b / blocks,
                                       observations.size() * (b + 1) / blocks);
        const std::array<double, 2> moved = {p.window - best.window, p.lag - best.lag};
        for (std::size_t i = 0; i < 2; ++i) {
            mean[i] += moved[i] / blocks;
            square[i] += moved[i] * moved[i] / blocks;
        }
    }
    const auto doubt = [&](std::size_t i) {  // Student's t for nine degrees, and the grain of the table
        return 2.26 * std::sqrt(std::max(0.0, (blocks - 1) * (square[i] - mean[i] * mean[i]))) + grain;
    };
    out.window_low = std::max(0.0, out.window - doubt(0));
    out.window_high = out.window + doubt(0);
    out.lag_low = out.lag - doubt(1);
    out.lag_high = out.lag + doubt(1);
    return out;
}

}  // namespace viridian::meter
