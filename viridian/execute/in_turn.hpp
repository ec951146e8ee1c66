#pragma once
// A plan's steps, each timed by itself, one after the other and round again: as long after its last run as in
// a run of the plan, so that its code, its weights and the memory it writes have gone where they go there.
// Its input is not what the step before made: it is written anew just before (docs/profile.md).
#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct Rotation {
    std::vector<double> steps;  // seconds of each of the plan's
    bool calm = true;           // meanwhile no thread lost its processor to something else
};

class InTurn {
  public:
    virtual ~InTurn() = default;
    [[nodiscard]] virtual Result<Rotation> rotation() = 0;
};

// Refers to all three. A device other than the processor times each step by Device::time. Errors: those of
// preparing.
[[nodiscard]] Result<std::unique_ptr<InTurn>> in_turn(Device& device, const graph::Graph& graph,
                                                      const plan::Plan& plan);

}  // namespace viridian::execute
