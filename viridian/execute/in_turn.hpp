#pragma once
// A plan's steps, each timed by itself, one after the other and round again: as long after its last run as in
// a run of the plan, so that its code, its weights and the memory it writes have gone where they go there.
// Its input is not what the step before made: it is written anew just before (docs/profile.md).
#include <vector>

#include "viridian/base/result.hpp"

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

}  // namespace viridian::execute
