#pragma once
// Profiles and schedules that several tests share.
#include "viridian/base/random.hpp"
#include "viridian/pipeline/profile/profile.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline::tests {

// The V100 matrixMul curve of blackjack2015/NV-DVFS-Benchmark (docs/pipeline.md, "Device models"), scaled so
// that the highest clock takes `seconds`.
inline std::vector<Point> v100_points(double seconds) {
    constexpr double clock[] = {705, 945, 1087, 1237, 1380}, watts[] = {79.8, 99.0, 122.2, 153.8, 186.1},
                     time[] = {8.856, 6.488, 5.681, 5.028, 4.509};
    std::vector<Point> points;
    for (int i = 0; i < 5; ++i) {
        const double t = time[i] / time[4] * seconds;
        points.push_back({Hertz(clock[i] * 1e6), Seconds(t), Joules(watts[i] * t)});
    }
    return points;
}

// F = 30 ms, B = 2F, each stage scaled by `scale[s]`.
inline Profile v100_profile(const std::vector<double>& scale, double wait = 50) {
    Profile profile;
    for (const double factor : scale) {
        StageProfile stage;
        stage.of(Kind::forward) = v100_points(0.030 * factor);
        stage.of(Kind::backward) = v100_points(0.060 * factor);
        stage.wait = Watts(wait);
        profile.stages.push_back(stage);
    }
    return profile;
}
inline Profile v100_profile(int stages, double wait = 50) {
    return v100_profile(std::vector<double>(static_cast<std::size_t>(stages), 1.0), wait);
}
inline Profile uneven_v100_profile(int stages, double spread, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> scale;
    for (int s = 0; s < stages; ++s) scale.push_back(1 + random.uniform(-spread, spread));
    return v100_profile(scale);
}

// Small random tables: `levels` clocks, whole nanoseconds up to `longest`, energies of any shape.
inline Profile random_profile(Random& random, int stages, int levels, int longest, bool weights = false) {
    Profile profile;
    for (int s = 0; s < stages; ++s) {
        StageProfile stage;
        stage.wait = Watts(static_cast<double>(random.between(0, 3)));
        for (const Kind kind : profiled_kinds) {
            if (kind == Kind::weight && !weights) continue;
            std::int64_t time = random.between(1, 3);
            std::vector<Point> points;
            for (int l = 0; l < levels && time <= longest; ++l) {
                const double clock = 1e6 * (2000 - 100 * l);
                points.insert(points.begin(), {Hertz(clock), Seconds(static_cast<double>(time) * 1e-9),
                                               Joules(static_cast<double>(random.between(1, 60)) * 1e-9)});
                time += random.between(1, 4);
            }
            stage.of(kind) = points;
        }
        profile.stages.push_back(stage);
    }
    if (random.chance(0.3))
        for (int s = 0; s + 1 < stages; ++s)
            profile.transfer.push_back(Seconds(static_cast<double>(random.between(0, 3)) * 1e-9));
    return profile;
}

// A random order that can run: any warm-up depth that does not rise along the stages.
inline Schedule random_schedule(Random& random, int stages, int micro_batches) {
    std::vector<int> depth(static_cast<std::size_t>(stages), 1);
    int least = 1;
    for (int s = stages; s-- > 0;) {
        least = static_cast<int>(random.between(least, std::max(least, micro_batches)));
        depth[static_cast<std::size_t>(s)] = least;
    }
    return with_warm_up("random", micro_batches, depth);
}

}  // namespace viridian::pipeline::tests
