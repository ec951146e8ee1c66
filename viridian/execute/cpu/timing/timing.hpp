#pragma once
// A Timer times single kernels and conversions (docs/method.md, 1). Weights come from memory, or from the
// last-level cache if the protocol says so; activations are as the kernel before left them.
#include "viridian/execute/cpu/timing/ports.hpp"

namespace viridian::execute::cpu {

class Timer {
  public:
    explicit Timer(const Context& context);

    // Times the kernel of `choice`. A view or a concatenation in place takes no time. Errors: those of
    // preparing it, out_of_memory.
    [[nodiscard]] Result<Timing> time(const Task& task, const plan::Choice& choice,
                                      const TimingProtocol& protocol);
    // Times the conversion of a tensor of `dims`. Errors: those of preparing it, out_of_memory.
    [[nodiscard]] Result<Timing> time_conversion(const graph::Dims& dims, const plan::Format& from,
                                                 const plan::Format& to, const TimingProtocol& protocol);

    // Repeat a kernel or a conversion for a meter, as Device::repeat() says. Errors: as above.
    [[nodiscard]] Result<void> repeat(const Task& task, const plan::Choice& choice,
                                      const TimingProtocol& protocol, Seconds at_least, const Window& window);
    [[nodiscard]] Result<void> repeat_conversion(const graph::Dims& dims, const plan::Format& from,
                                                 const plan::Format& to, Seconds at_least,
                                                 const Window& window);

  private:
    class Stand;

    // These time or repeat a kernel that is ready to run, on the memory of this object.
    [[nodiscard]] Timing measure(const Kernel& kernel, const Ports& ports, const TimingProtocol& protocol);
    void repeat(const Kernel& kernel, const Ports& ports, bool cached_weights, Seconds at_least,
                const Window& window);

    const Context& context_;
    Buffer weights_;  // large enough that a cycle through it leaves every cache
    std::size_t cursor_ = 0;
    std::size_t cached_bytes_;  // length of the cycle if weights stay in the last-level cache
    Buffer activations_;        // of the kernel being timed
};

}  // namespace viridian::execute::cpu
