#pragma once
// Offers kernels with some ports stored in bf16. All sums are kept in f32. Only these are
// rounded: tensors in memory, the weights of a convolution or product, and the exponentials, probabilities
// and gradients of scores that attention multiplies in bf16.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// A Precision holds the element types that a kernel reads and writes.
struct Precision {
    graph::ElementType source = graph::ElementType::f32;
    graph::ElementType result = graph::ElementType::f32;
    [[nodiscard]] bool exact() const { return source == result && source == graph::ElementType::f32; }
};

// Returns f32 → f32 and, if Context::multiplies_bf16(), bf16 → bf16 and bf16 → f32.
[[nodiscard]] std::vector<Precision> contraction_precisions(const Context& context);
// Returns f32 → f32 and, under the same condition, bf16 → bf16, for oneDNN's pools and softmax.
[[nodiscard]] std::vector<Precision> storage_precisions(const Context& context);

// Appends a copy of each of `choices`, whose kernels widen what they read and narrow what they write, in
// bf16 → bf16, in bf16 → f32 and in f32 → bf16. reads(i) says whether region input i may be read in bf16, and
// writes(i) whether output i may be written in it. A choice that overwrites an input is copied only if that
// input and the output keep one type.
void offer_widened(
    const Task& task, const std::function<bool(std::size_t)>& reads, std::vector<plan::Choice>& choices,
    const std::function<bool(std::size_t)>& writes = [](std::size_t) { return true; });
// Appends a copy of each of `choices`, whose kernels move elements without changing them, with every f32
// port in bf16.
void offer_moved(const Task& task, std::vector<plan::Choice>& choices);

// Removes the choices that round an input or output of a node whose operator is denied bf16
// (plan/precision.hpp).
void keep_safe(const Task& task, std::vector<plan::Choice>& choices);

[[nodiscard]] bool in_bf16(const plan::Format& format);
// Returns whether any port is in bf16.
[[nodiscard]] bool in_bf16(const plan::Choice& choice);

}  // namespace viridian::execute::cpu
