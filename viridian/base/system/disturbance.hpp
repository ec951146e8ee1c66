#pragma once
// Tells whether something else took processor time from a piece of work, so that its time can be left out.
#include <chrono>
#include <cstdint>

namespace viridian {

// Adds to the time for which a thread of this process did the work of another one that had no processor.
// Thread pools call it.
void add_stand_in(std::chrono::nanoseconds time);

// A Disturbance begins when it is made. Work is disturbed if meanwhile the system took a processor away from
// a thread of this process that had work to do (preemptions()), or if threads stood in for others for more
// than a twentieth of it: a thread that waits for a processor all the time loses none.
class Disturbance {
  public:
    Disturbance();
    // Returns whether nothing disturbed the work, which took `seconds`.
    [[nodiscard]] bool none(double seconds) const;

  private:
    std::int64_t preemptions_, stood_in_;
};

}  // namespace viridian
