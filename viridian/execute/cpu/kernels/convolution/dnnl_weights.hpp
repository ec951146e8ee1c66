#pragma once
// Prepares the weights and the bias of a Conv or ConvTranspose for a primitive of oneDNN. Constants are
// packed once. Weights that change, as in a training step, are packed in every run if the primitive wants
// them in another order.
#include "viridian/execute/cpu/kernels/dnnl.hpp"

namespace viridian::execute::cpu {

// A DnnlWeights holds what a kernel does to bring weights and bias to its primitive.
struct DnnlWeights {
    std::vector<Stage> stages;  // what packs the weights, before the primitive
    std::vector<Packed> constants;
    std::vector<Argument> arguments;   // of the primitive: weights, then the bias if there is one
    std::int64_t workspace_bytes = 0;  // that packed weights take at the beginning of the workspace
};

// Returns the weights, input 1 of the region's first node, whose elements lie as `given` says and are to lie
// as `wanted` says, and the bias, input 2, which lies as `bias` says; none if that is empty.
[[nodiscard]] DnnlWeights dnnl_weights(const Task& task, const dnnl::memory::desc& given,
                                       const dnnl::memory::desc& wanted, const dnnl::memory::desc& bias);
// Returns the workspace that dnnl_weights() would need.
[[nodiscard]] std::int64_t packed_weights_bytes(const Task& task, const dnnl::memory::desc& given,
                                                const dnnl::memory::desc& wanted);
// Returns how many of the weights and the bias are constants.
[[nodiscard]] std::size_t count_constants(const Task& task);

}  // namespace viridian::execute::cpu
