#pragma once
// Defines where a solver gets choices and prices from: a measured database (profile::OnDemand asks the device
// for what it lacks and measures it), a recording, or a synthetic processor.
#include <functional>

#include "viridian/plan/choice.hpp"
#include "viridian/plan/price.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::cost {

using Price = plan::Price;

struct PricedChoice {
    plan::Choice choice;
    Price price;
};

struct Source {
    // Lists every choice for the region; reference kernels only if nothing else exists. The list is empty if
    // no kernel does the region as one. Errors: missing_entry if a file lacks it.
    std::function<Result<std::vector<PricedChoice>>(const graph::Graph&, const plan::Region&)> choices;
    // Prices the copy of a tensor into another format (layout, element type, memory).
    std::function<Result<Price>(const graph::Dims&, const plan::Format& from, const plan::Format& to)>
        conversion;
};

}  // namespace viridian::cost
