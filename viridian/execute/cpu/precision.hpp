#pragma once
// Kernels in bf16: the same regions, with some ports stored in bf16. Sums are kept in f32 everywhere; what is
// rounded is what lies in memory, and a convolution's or product's constants.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// Element types of what a kernel reads and writes.
struct Precision {
    graph::ElementType source = graph::ElementType::f32;
    graph::ElementType result = graph::ElementType::f32;
    [[nodiscard]] bool exact() const { return source == result && source == graph::ElementType::f32; }
};

// f32 → f32; where bf16 is allowed also bf16 → bf16 and bf16 → f32: what matrix instructions do.
[[nodiscard]] std::vector<Precision> contraction_precisions(const Context& context);
// f32 → f32; where bf16 is allowed also bf16 → bf16.
[[nodiscard]] std::vector<Precision> storage_precisions(const Context& context);

// For kernels that widen what they read and narrow what they write: after every choice that neither moves nor
// copies blindly come bf16 → bf16, bf16 → f32 and f32 → bf16. `whole(i)`: region input i may be read in bf16.
// Overwriting is kept only where the element sizes are equal.
void offer_widened(const Task& task, const std::function<bool(std::size_t)>& whole,
                   std::vector<plan::Choice>& choices);
// For kernels that move elements without looking: each choice also with every f32 port in bf16.
void offer_moved(const Task& task, std::vector<plan::Choice>& choices);

// Only those that touch no bf16 port of a node that must not (plan/precision.hpp).
void keep_safe(const Task& task, std::vector<plan::Choice>& choices);

[[nodiscard]] bool in_bf16(const plan::Format& format);
// Any port in bf16.
[[nodiscard]] bool in_bf16(const plan::Choice& choice);

}  // namespace viridian::execute::cpu
