#include "viridian/execute/cpu/kernels/product/matmul_plan.hpp"

#include "viridian/execute/cpu/simd/convolution/fused.hpp"

namespace viridian::execute::cpu {

std::optional<MatmulPlan> matmul_plan(const Task& task) {
    auto product = matrix_product(task);
    if (!product || !product->constant_b || !product->constant_bias || product->b_dims.size() != 2 ||
        product->transpose_a)
        return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    MatmulPlan plan{*product, product->bias, *std::move(steps), task.dims(task.node().outputs[0])};
    const auto is_bias = [&](const EpilogueStep& step) {
        const graph::Tensor* constant =
            step.function == Function::add ? task.graph.constant(step.operand) : nullptr;
        return constant != nullptr && constant->count() == plan.product.n && constant->rank() > 0 &&
               constant->dims().back() == plan.product.n;
    };
    if (plan.bias == graph::ValueId::none && !plan.steps.empty() && is_bias(plan.steps[0])) {
        plan.bias = plan.steps[0].operand;
        plan.steps.erase(plan.steps.begin());
    }
    for (const EpilogueStep& step : plan.steps)
        if (step.operand == plan.product.a) return std::nullopt;
    std::vector<Packed> constants;
    if (!simd::Fused::make(task, plan.steps, plan.result, plan::plain(plan.result.size()), constants))
        return std::nullopt;
    return plan;
}

}  // namespace viridian::execute::cpu
