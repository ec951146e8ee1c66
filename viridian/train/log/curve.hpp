#pragma once
// A Curve keeps the numbers of a whole training run in bounded memory: when it is full, neighbours become
// their mean.
#include <vector>

#include "viridian/base/json_fwd.hpp"
#include "viridian/train/log/step_record.hpp"

namespace viridian::train {

// A CurvePoint stands for `steps` steps, of which `step` is the last. Means are over the steps.
struct CurvePoint {
    std::int64_t step = 0;
    std::int64_t steps = 0;
    double loss = 0;
    double rate = 0;
    Seconds seconds{};               // of all of them
    std::int64_t samples = 0;        // of all of them
    std::optional<Energy> energy{};  // of all of them; nothing if that of one is not known
};

class Curve {
  public:
    // `most`: how many points there may be, at least 2.
    explicit Curve(std::size_t most = 800) : most_(most) {}
    void add(const StepRecord& record);
    [[nodiscard]] const std::vector<CurvePoint>& points() const { return points_; }

  private:
    std::size_t most_;
    std::int64_t width_ = 1;  // steps of a point
    std::vector<CurvePoint> points_;
};

// Returns a list of {step, steps, loss, rate, seconds, samples, joules}; the last three are sums over the
// steps.
[[nodiscard]] Json to_json(const Curve& curve);

}  // namespace viridian::train
