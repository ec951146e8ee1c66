#include "viridian/train/log/curve.hpp"

#include "viridian/base/json.hpp"

namespace viridian::train {
namespace {

void merge(CurvePoint& into, const CurvePoint& next) {
    const auto a = static_cast<double>(into.steps), b = static_cast<double>(next.steps);
    into.loss = (into.loss * a + next.loss * b) / (a + b);
    into.rate = (into.rate * a + next.rate * b) / (a + b);
    into.step = next.step;
    into.steps += next.steps;
    into.seconds += next.seconds;
    into.samples += next.samples;
    if (into.energy && next.energy)
        *into.energy += *next.energy;
    else
        into.energy.reset();
}

}  // namespace

void Curve::add(const StepRecord& record) {
    const CurvePoint point{.step = record.step,
                           .steps = 1,
                           .loss = record.loss,
                           .rate = record.rate,
                           .seconds = record.seconds,
                           .samples = record.samples,
                           .energy = record.energy};
    if (!points_.empty() && points_.back().steps < width_) {
        merge(points_.back(), point);
        return;
    }
    if (points_.size() == most_) {
        std::vector<CurvePoint> half;
        for (std::size_t i = 0; i < points_.size(); i += 2) {
            half.push_back(points_[i]);
            if (i + 1 < points_.size()) merge(half.back(), points_[i + 1]);
        }
        points_ = std::move(half);
        width_ *= 2;
    }
    points_.push_back(point);
}

Json to_json(const Curve& curve) {
    Json list = Json::array();
    for (const CurvePoint& point : curve.points())
        list.push_back({{"step", point.step},
                        {"steps", point.steps},
                        {"loss", point.loss},
                        {"rate", point.rate},
                        {"seconds", point.seconds.value},
                        {"samples", point.samples},
                        {"joules", point.energy ? to_json(*point.energy) : Json()}});
    return list;
}

}  // namespace viridian::train
