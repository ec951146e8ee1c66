#include "viridian/search/objective/support_lines.hpp"

#include <gtest/gtest.h>

#include "viridian/base/random.hpp"

namespace viridian::search {
namespace {

struct Point {
    double x = 0, y = 0;
};

Metrics at(double seconds, double joules) { return {Seconds(seconds), Joules(joules), {}, {}, {}}; }

// The line that the points lie on or above, lowered by `slack`.
SupportLine line(const std::vector<Point>& points, double wx, double wy, double slack) {
    double least = std::numeric_limits<double>::infinity();
    for (const Point& p : points) least = std::min(least, wx * p.x + wy * p.y);
    return {wx, wy, least - slack};
}

constexpr const char* objectives[] = {
    "power",
    "0.5*power+0.5*energy",
    "0.5*power+0.5*time",
    "energy^0.5*time^0.5",
    "power^0.3*energy^1",
    "energy @ time<=1.1x",
    "time @ power<=0.9x",
    "power @ time<=1.5x",
    "0.3*time+0.7*energy @ power<=0.95x",
};

// Points stand for plans; lines are their supports in some directions, a little too low.
TEST(SupportLines, no_plan_has_a_lower_value) {
    int informative = 0, beyond = 0, limited = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        Random random(seed);
        const Objective objective = *parse_objective(objectives[seed % std::size(objectives)]);
        std::vector<Point> points;
        for (std::size_t i = 2 + random.below(12); i > 0; --i) {
            const double x = random.uniform(1, 2) * (random.chance(0.1) ? 30 : 1);
            points.push_back({x, x * random.uniform(20, 80)});
        }
        const Metrics start = at(points[0].x, points[0].y);
        std::vector<SupportLine> lines = {line(points, 1, 0, random.uniform(0, 0.01))};
        for (std::size_t i = random.below(5); i > 0; --i)
            lines.push_back(
                line(points, random.uniform(-60, 60), random.uniform(0.1, 1), random.uniform(0, 1)));
        if (random.chance(0.5)) lines.push_back(line(points, 0, 1, random.uniform(0, 1)));
        const double from = lines[0].bound, to = from * random.uniform(1.1, 3);
        const LevelSet level(objective, start, Metric::time, from, to, 0);
        const double bound = least_above(lines, level, from, to);
        double least = std::numeric_limits<double>::infinity();
        for (const Point& p : points) {
            const Metrics totals = at(p.x, p.y);
            if (!objective.within_limit(totals, start)) continue;
            least = std::min(least, objective.value(totals, start));
            beyond += p.x > to ? 1 : 0;
        }
        EXPECT_LE(bound, least * (1 + 1e-9)) << "seed " << seed << ", " << text(objective);
        informative += bound > 0.5 * least ? 1 : 0;
        limited += bound == std::numeric_limits<double>::infinity() ? 1 : 0;
    }
    EXPECT_GT(informative, 500);
    EXPECT_GT(beyond, 500);
    EXPECT_GT(limited, 0);
}

// With the lines of a triangle the bound is the least value along its lower edges.
TEST(SupportLines, are_as_high_as_their_envelope) {
    const std::vector<Point> points = {{1, 100}, {1.2, 70}, {2, 60}};
    std::vector<SupportLine> lines = {line(points, 1, 0, 0)};
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
        lines.push_back(line(points, points[i].y - points[i + 1].y, points[i + 1].x - points[i].x, 0));
    lines.push_back(line(points, 0, 1, 0));
    lines.push_back(line(points, -30, 1, 0));  // least power: that of the last point
    for (const char* text : objectives) {
        const Objective objective = *parse_objective(text);
        const Metrics start = at(1.1, 90);
        const LevelSet level(objective, start, Metric::time, 1, 40, 0);
        double along = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i + 1 < points.size(); ++i)
            for (double t = 0; t <= 1; t += 1e-4) {
                const Metrics here = at(points[i].x + t * (points[i + 1].x - points[i].x),
                                        points[i].y + t * (points[i + 1].y - points[i].y));
                if (objective.within_limit(here, start))
                    along = std::min(along, objective.value(here, start));
            }
        const double bound = least_above(lines, level, 1, 40);
        EXPECT_LE(bound, along * (1 + 1e-9)) << text;
        EXPECT_GE(bound, along * (1 - 2e-3)) << text;
    }
}

// Far to the right only energy is left of a mix with power: its least is the bound there.
TEST(SupportLines, level_and_steep_lines_hold_beyond_the_stretch) {
    const Objective objective = *parse_objective("0.5*power+0.5*energy");
    const Metrics start = at(1, 100);
    const LevelSet level(objective, start, Metric::time, 1, 2, 0);
    const auto bound = [&](const std::vector<SupportLine>& lines) { return least_above(lines, level, 1, 2); };
    EXPECT_EQ(bound({{1, 0, 1}}), 0);
    EXPECT_NEAR(bound({{1, 0, 1}, {0, 1, 80}}), 0.4, 1e-3);                // 0.5 · 80/100, and no power
    EXPECT_NEAR(bound({{1, 0, 1}, {-40, 1, 0}}), 0.4, 1e-3);               // x = 1: y ≥ 40, y/x ≥ 40
    EXPECT_NEAR(bound({{1, 0, 1}, {0, 1, 80}, {-30, 1, 0}}), 0.55, 1e-3);  // and y/x ≥ 30
}

}  // namespace
}  // namespace viridian::search
