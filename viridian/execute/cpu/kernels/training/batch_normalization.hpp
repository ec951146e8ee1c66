#pragma once
// Computes batch normalisation by the statistics of the batch or by given ones, and the gradient of the
// former, on row-major, channels-last and blocked tensors. In channels-last layouts and in blocks of 16,
// tensors of the shape of x may be stored in bf16; computation is in f32.
#include <algorithm>
#include <optional>
#include <vector>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/elementwise/chain.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"

namespace viridian::execute::cpu {

// The largest piece, in floats, that a loop or a chain of steps processes at once. Rows of channels that are
// longer cannot be cut.
inline constexpr std::int64_t largest_piece = 4096;

struct BatchNormalization {
    enum class Kind : std::uint8_t { training, inference, gradient } kind = Kind::training;
    std::int64_t images = 1, channels = 1, inner = 1;  // [images, channels, inner]
    double epsilon = 0, momentum = 0;
    std::int64_t block = 0;  // channels that lie side by side; 0: those of a channel do, as in nchw
    std::vector<EpilogueStep> steps = {};            // after a normalisation, or before a gradient
    graph::ValueId upstream = graph::ValueId::none;  // what the steps before a gradient read
    // Add and Relu after a normalisation and ReluGrad before a gradient are fused into its loops; other steps
    // are a chain.
    simd::Chain chain = {};
    Port operand = {};  // the other term, or Relu's result
    bool rectifies = false;
    std::vector<Port> inputs = {};
    std::vector<std::optional<std::size_t>> outputs = {};  // by number of the node's output
    bool rounds_result = false;                            // output 0 is stored in bf16

    [[nodiscard]] double count() const { return static_cast<double>(images * inner); }
    [[nodiscard]] const float* input(const Pointers& pointers, std::size_t i) const {
        return inputs[i].at(pointers);
    }
    // Returns whether a tensor of the shape of x is stored in bf16.
    [[nodiscard]] bool in_bf16() const {
        return rounds_result || operand.bf16 || std::ranges::any_of(inputs, &Port::bf16);
    }
    // Returns the fused steps of a normalisation at elements [at, at + n). `wide` has room for these, and may
    // be null if the operand is f32.
    [[nodiscard]] simd::AffineEpilogue epilogue(const Pointers& pointers, std::int64_t at, std::int64_t n,
                                                float* wide = nullptr) const {
        simd::AffineEpilogue made{operand.at(pointers, at, n, wide)};
        if (rectifies) made.lower = 0;
        return made;
    }
    // Returns where output `i` goes; null if nobody reads it.
    [[nodiscard]] float* output(const Pointers& pointers, std::size_t i) const {
        const auto& index = i < outputs.size() ? outputs[i] : std::nullopt;
        return index ? reinterpret_cast<float*>(pointers.outputs[*index]) : nullptr;
    }
};

// Returns 1 / √(variance + epsilon).
[[nodiscard]] double inverse_deviation(const BatchNormalization& work, double variance);

// Sets the new running statistics of channel `c`, and its mean and inverse deviation. Returns the latter.
double set_statistics(const BatchNormalization& work, const Pointers& pointers, std::int64_t c, double mean,
                      double variance);

// Runs the work where the channels lie side by side, whole or in blocks. `columns_workspace` is what it
// needs.
void run_batch_columns(const BatchNormalization& work, int threads, const Pointers& pointers);
[[nodiscard]] Bytes columns_workspace(const BatchNormalization& work);

}  // namespace viridian::execute::cpu
