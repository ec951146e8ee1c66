#include "viridian/execute/cpu/kernels/dnnl_post_ops.hpp"

#include <algorithm>

namespace viridian::execute::cpu {
namespace {

using dnnl::algorithm;
using graph::Dims;

// The operand's dims at the destination's rank. Where the destination's rows were collapsed to one axis, an
// operand is whole or varies along the last axis only.
Dims aligned(const Dims& from, std::size_t rank) {
    if (from.size() > rank) return {1, from.back()};
    Dims dims(rank - from.size(), 1);
    dims.insert(dims.end(), from.begin(), from.end());
    return dims;
}

bool reads(const graph::Node& node, graph::ValueId id) {
    return std::ranges::find(node.inputs, id) != node.inputs.end();
}

}  // namespace

std::optional<Eltwise> eltwise_of(const EpilogueStep& step) {
    switch (step.function) {
        case Function::relu:
            return Eltwise{algorithm::eltwise_relu, 0, 0};
        case Function::leaky_relu:
            return Eltwise{algorithm::eltwise_relu, step.alpha, 0};
        case Function::clip:
            return Eltwise{algorithm::eltwise_clip, step.alpha, step.beta};
        case Function::sigmoid:
            return Eltwise{algorithm::eltwise_logistic, 0, 0};
        case Function::tanh:
            return Eltwise{algorithm::eltwise_tanh, 0, 0};
        case Function::elu:
            return Eltwise{algorithm::eltwise_elu, step.alpha, 0};
        case Function::gelu_erf:
            return Eltwise{algorithm::eltwise_gelu_erf, 0, 0};
        case Function::gelu_tanh:
            return Eltwise{algorithm::eltwise_gelu_tanh, 0, 0};
        case Function::hard_swish:
            return Eltwise{algorithm::eltwise_hardswish, 0, 0};
        case Function::swish:
            return Eltwise{algorithm::eltwise_swish, step.alpha, 0};
        case Function::softplus:
            return Eltwise{algorithm::eltwise_soft_relu, 0, 0};
        case Function::exp:
            return Eltwise{algorithm::eltwise_exp, 0, 0};
        case Function::log:
            return Eltwise{algorithm::eltwise_log, 0, 0};
        case Function::sqrt:
            return Eltwise{algorithm::eltwise_sqrt, 0, 0};
        case Function::abs:
            return Eltwise{algorithm::eltwise_abs, 0, 0};
        case Function::neg:
            return Eltwise{algorithm::eltwise_linear, -1, 0};
        case Function::square:
            return Eltwise{algorithm::eltwise_square, 0, 0};
        default:
            return std::nullopt;
    }
}

std::optional<dnnl::algorithm> binary_of(const EpilogueStep& step) {
    switch (step.function) {
        case Function::add:
            return algorithm::binary_add;
        case Function::mul:
            return algorithm::binary_mul;
        case Function::sub:
            return step.reversed ? std::nullopt : std::optional(algorithm::binary_sub);
        case Function::div:
            return step.reversed ? std::nullopt : std::optional(algorithm::binary_div);
        case Function::min:
            return algorithm::binary_min;
        case Function::max:
            return algorithm::binary_max;
        default:
            return std::nullopt;
    }
}

std::optional<PostOps> post_ops(const Task& task, const std::vector<EpilogueStep>& steps, const Dims& dims,
                                const plan::Layout& layout, bool sum_in_place, std::size_t first_constant,
                                graph::ElementType element) {
    PostOps result;
    result.attributes = user_scratchpad();
    for (const EpilogueStep& step :
         steps)  // a value with two roles would need one format in both, and must not be overwritten
        if (is_binary(step.function) && reads(task.node(), step.operand)) return std::nullopt;
    dnnl::post_ops list;
    std::size_t constant = first_constant;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const EpilogueStep& step = steps[i];
        if (!is_binary(step.function)) {
            const auto eltwise = eltwise_of(step);
            if (!eltwise) return std::nullopt;
            list.append_eltwise(1.0F, eltwise->algorithm, eltwise->alpha, eltwise->beta);
            continue;
        }
        const auto algorithm = binary_of(step);
        if (!algorithm) return std::nullopt;
        const Dims own = task.dims(step.operand);
        const bool whole = own == task.dims(task.node().outputs[0]);
        const Dims shape = whole ? dims : aligned(own, dims.size());
        const auto input = task.input_index(step.operand);
        const auto same = [&](const EpilogueStep& other) { return other.operand == step.operand; };
        if (sum_in_place && !result.summed && input && std::ranges::count_if(steps, same) == 1 &&
            step.function == Function::add && whole && task.region.dies[*input]) {
            list.append_sum(1.0F);
            result.summed = input;
            continue;
        }
        const auto md = input && whole ? descriptor(layout, dims, element)
                                       : plain_descriptor(shape, graph::ElementType::f32);
        list.append_binary(*algorithm, md);
        const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
        if (input) {
            result.arguments.push_back({Argument::From::input, *input, argument, md});
        } else {
            result.arguments.push_back({Argument::From::constant, constant++, argument, md});
            result.constants.push_back(step.operand);
        }
    }
    if (sum_in_place && !result.summed) return std::nullopt;
    result.attributes.set_post_ops(list);
    return result;
}

void set_operand_formats(const Task& task, const std::vector<EpilogueStep>& steps, const Dims& dims,
                         const plan::Format& format, plan::Choice& choice) {
    for (const EpilogueStep& step : steps)
        if (is_binary(step.function))
            if (const auto input = task.input_index(step.operand); input && task.dims(step.operand) == dims)
                choice.inputs[*input] = format;
}

void set_memory(const PostOps& operations, const dnnl::memory::desc& scratchpad, plan::Choice& choice) {
    if (operations.summed) {
        choice.aliasing = plan::Aliasing::overwrite;
        choice.overwritten = *operations.summed;
    }
    choice.workspace = Bytes(static_cast<std::int64_t>(scratchpad.get_size()));
}

}  // namespace viridian::execute::cpu
