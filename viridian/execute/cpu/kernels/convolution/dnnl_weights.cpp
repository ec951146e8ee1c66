#include "viridian/execute/cpu/kernels/convolution/dnnl_weights.hpp"

namespace viridian::execute::cpu {
namespace {

using From = Argument::From;

bool is_constant(const Task& task, std::size_t input) {
    const graph::ValueId id = task.node().input(input);
    return id != graph::ValueId::none && task.graph.constant(id) != nullptr;
}

}  // namespace

std::int64_t packed_weights_bytes(const Task& task, const dnnl::memory::desc& given,
                                  const dnnl::memory::desc& wanted) {
    if (is_constant(task, 1) || given == wanted) return 0;
    return aligned_bytes(static_cast<std::int64_t>(wanted.get_size()));
}

std::size_t count_constants(const Task& task) {
    return (is_constant(task, 1) ? 1U : 0U) + (is_constant(task, 2) ? 1U : 0U);
}

DnnlWeights dnnl_weights(const Task& task, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted,
                         const dnnl::memory::desc& bias) {
    const graph::Node& node = task.node();
    DnnlWeights made;
    made.workspace_bytes = packed_weights_bytes(task, given, wanted);
    if (is_constant(task, 1)) {
        made.constants.push_back(pack_constant(task, node.inputs[1], given, wanted));
        made.arguments.push_back({From::constant, 0, DNNL_ARG_WEIGHTS, wanted});
    } else {
        const std::size_t input = *task.input_index(node.inputs[1]);
        made.arguments.push_back({From::input, input, DNNL_ARG_WEIGHTS, wanted});
        if (made.workspace_bytes > 0) {
            made.stages.push_back(reorder_stage(task.context, {From::input, input, DNNL_ARG_FROM, given},
                                                {From::workspace, 0, DNNL_ARG_TO, wanted}));
            made.arguments.back().from = From::workspace;
            made.arguments.back().index = 0;
        }
    }
    if (bias.is_zero()) return made;
    if (is_constant(task, 2)) {
        made.arguments.push_back({From::constant, made.constants.size(), DNNL_ARG_BIAS, bias});
        made.constants.push_back(plain_constant(task, node.inputs[2]));
    } else {
        made.arguments.push_back({From::input, *task.input_index(node.inputs[2]), DNNL_ARG_BIAS, bias});
    }
    return made;
}

}  // namespace viridian::execute::cpu
