#pragma once
// Defines where a solver gets choices and prices from: a measured database (profile::OnDemand asks the device
// for what it lacks and measures it), a recording, or a synthetic processor.
#include <functional>

#include "viridian/plan/choice.hpp"
#include "viridian/plan/price.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::cost {

using Price = plan::Price;

// A PricedChoice is a choice with its price.
struct PricedChoice {
    plan::Choice choice;
    Price price;
};

// A PriceSource answers what a solver asks for.
struct PriceSource {
    // Lists every choice for the region. Reference kernels are listed only if no other kernel exists. The
    // list is empty if no kernel computes the whole region. Errors: missing_entry if a recording lacks the
    // region.
    std::function<Result<std::vector<PricedChoice>>(const graph::Graph&, const plan::Region&)> choices;
    // Prices the copy of a tensor into another format (layout, element type, memory). Errors:
    // missing_entry if a recording lacks it.
    std::function<Result<Price>(const graph::Dims&, const plan::Format& from, const plan::Format& to)>
        conversion;
};

}  // namespace viridian::cost
