#pragma once
// BatchNormalizationTraining and its gradient, with the channels outermost or innermost in memory.
#include <optional>
#include <vector>

#include "viridian/execute/cpu/kernels/training/port.hpp"

namespace viridian::execute::cpu {

struct BatchNormalization {
    bool gradient = false;
    std::int64_t images = 1, channels = 1, inner = 1;  // [images, channels, inner]
    double epsilon = 0, momentum = 0;
    std::int64_t block = 0;  // channels that lie side by side; 0: those of a channel do, as in nchw
    std::vector<Port> inputs = {};
    std::vector<std::optional<std::size_t>> outputs = {};  // by number of the node's output

    [[nodiscard]] double count() const { return static_cast<double>(images * inner); }
    [[nodiscard]] const float* input(const Pointers& pointers, std::size_t i) const {
        return inputs[i].at(pointers);
    }
    // Returns where output `i` goes; null if nobody reads it.
    [[nodiscard]] float* output(const Pointers& pointers, std::size_t i) const {
        const auto& index = i < outputs.size() ? outputs[i] : std::nullopt;
        return index ? reinterpret_cast<float*>(pointers.outputs[*index]) : nullptr;
    }
};

// Sets the new running statistics of channel `c`, and its mean and inverse deviation. Returns the latter.
double set_statistics(const BatchNormalization& work, const Pointers& pointers, std::int64_t c, double mean,
                      double variance);

// Runs the work where the channels lie side by side, whole or in blocks. `columns_workspace` is what it
// needs.
void run_batch_columns(const BatchNormalization& work, int threads, const Pointers& pointers);
[[nodiscard]] Bytes columns_workspace(const BatchNormalization& work);

}  // namespace viridian::execute::cpu
