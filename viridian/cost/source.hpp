#pragma once
// Where a solver gets choices and prices from. Two implementations: `cost::Database` (a file: whatever was
// measured before) and `profile::OnDemand` (asks the device, measures, stores). `cli` hands one to `search`.
#include <functional>

#include "viridian/base/energy.hpp"
#include "viridian/plan/choice.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::cost {

struct Price {
    Seconds seconds;    // median of cold-weight, warm-activation timings (docs/method.md, 1)
    Seconds low, high;  // 95 % interval of that median
    Energy energy;
};

struct PricedChoice {
    plan::Choice choice;
    Price price;
};

struct Source {
    // Every choice for the region, reference kernels only where nothing else exists. Empty: no kernel does
    // this region as one. Errors: missing_entry when a file lacks it.
    std::function<Result<std::vector<PricedChoice>>(const graph::Graph&, const plan::Region&)> choices;
    // A copy of a tensor into another format (layout, element type, memory).
    std::function<Result<Price>(const graph::Dims&, const plan::Format& from, const plan::Format& to)>
        conversion;
};

}  // namespace viridian::cost
