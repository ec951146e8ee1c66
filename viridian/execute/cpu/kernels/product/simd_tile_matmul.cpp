// Products with a constant matrix in bf16 on the matrix unit. `columns`: each weight is read by one thread
// only; `rows`: each row is.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/matmul_plan.hpp"
#include "viridian/execute/cpu/kernels/product/tile_product.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;

constexpr std::string_view simd_tile_matmul_family_name = "simd:tile_matmul";

TileProduct product_of(const Task& task, const MatmulPlan& plan, bool by_columns,
                       std::vector<Packed>& constants) {
    TileProduct p;
    p.height = p.out_height = plan.product.m;
    p.channels = plan.product.k;
    p.by_channels = by_columns;
    p.groups.channels = plan.product.n;
    p.biased = plan.bias != graph::ValueId::none;
    p.source = *task.input_index(plan.product.a);
    p.threads = task.context.threads;
    p.fused = *simd::Fused::make(task, plan.steps, plan.result, plan::plain(plan.result.size()), constants);
    p.lay_out(1, 1);
    return p;
}

std::vector<plan::Choice> offers_simd_tile_matmul(const Task& task) {
    if (!tiles_run(task)) return {};
    const auto plan = matmul_plan(task);
    if (!plan) return {};
    std::vector<plan::Choice> choices;
    for (const bool by_columns : {true, false})
        for (const ElementType result : {ElementType::bf16, ElementType::f32}) {
            if (by_columns ? task.context.threads > 1 && plan->product.n <= 32
                           : !plan->by_rows(task.context.threads))
                continue;
            std::vector<Packed> constants;
            const TileProduct p = product_of(task, *plan, by_columns, constants);
            plan::Choice choice = task.plain_choice(
                fmt::format("{}:{}", simd_tile_matmul_family_name, by_columns ? "columns" : "rows"));
            choice.variant.split = by_columns ? plan::Split::channels : plan::Split::rows;
            choice.inputs[p.source].element = ElementType::bf16;
            choice.outputs[0].element = result;
            if (p.fused.added) choice.inputs[*p.fused.added].element = result;
            choice.workspace = p.workspace();
            simd::offer_with_residual(task, plan->steps, plan->result, std::move(choice), choices);
        }
    return choices;
}

Result<Kernel> prepare_simd_tile_matmul(const Task& task, const plan::Choice& choice) {
    const auto plan = tiles_run(task) ? matmul_plan(task) : std::nullopt;
    if (!plan) return unknown_kernel(choice);
    const bool by_columns = choice.variant.split == plan::Split::channels;
    std::vector<Packed> none;
    TileProduct p = product_of(task, *plan, by_columns, none);
    Kernel kernel;
    kernel.constants.push_back(p.pack(task, plan->product.b, plan->packing(), 1, plan->weight(task)));
    if (p.biased) kernel.constants.push_back(simd::pack_bias(task, plan->bias, p.groups));
    p.fused = *simd::Fused::make(task, plan->steps, plan->result, plan::plain(plan->result.size()),
                                 kernel.constants);
    p.narrow = in_bf16(choice.outputs[0]);
    kernel.workspace = p.workspace();
    kernel.run = [p = std::move(p)](const Pointers& pointers) { p.run(pointers); };
    return kernel;
}

}  // namespace

Family simd_tile_matmul_family() {
    return {simd_tile_matmul_family_name, offers_simd_tile_matmul, prepare_simd_tile_matmul};
}

}  // namespace viridian::execute::cpu
