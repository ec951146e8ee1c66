#pragma once
// Times single kernels and conversions (docs/method.md, 1): weights come from memory, or from the last-level
// cache if the protocol says so; activations are as the kernel before left them.
#include "viridian/execute/cpu/timing/ports.hpp"

namespace viridian::execute::cpu {

class Timer {
  public:
    explicit Timer(const Context& context);

    [[nodiscard]] Result<Timing> time(const Task& task, const plan::Choice& choice,
                                      const TimingProtocol& protocol);
    [[nodiscard]] Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from,
                                                 const plan::Format& to, const TimingProtocol& protocol);

  private:
    [[nodiscard]] Timing measure(const Kernel& kernel, const Ports& ports, const TimingProtocol& protocol);

    const Context& context_;
    Buffer weights_;  // large enough that a cycle through it leaves every cache
    std::size_t cursor_ = 0;
    std::size_t cached_bytes_;  // the cycle where weights stay in the last-level cache
    Buffer activations_;        // of the kernel being timed
};

}  // namespace viridian::execute::cpu
