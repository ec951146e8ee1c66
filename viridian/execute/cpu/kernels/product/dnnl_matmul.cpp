// MatMul and Gemm with their epilogue: constant matrices packed as oneDNN likes, others read and written in
// the orders that attention's transposes leave them in.
#include <set>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/dnnl_post_ops.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/matrix.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::matmul;
using dnnl::memory;
using graph::Dims;
using graph::ElementType;
using plan::Layout;

constexpr std::string_view dnnl_matmul_family_name = "dnnl:matmul";

memory::desc transposed(memory::desc md, bool transpose) {
    if (!transpose) return md;
    const int rank = md.data.ndims;
    std::vector<int> axes(static_cast<std::size_t>(rank));
    for (int i = 0; i < rank; ++i) axes[static_cast<std::size_t>(i)] = i;
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return md.permute_axes(axes);
}

// `layout` is that of the value, whose dims may have fewer axes than `dims` (leading ones).
memory::desc operand(const Task& task, graph::ValueId id, const Layout& layout, const Dims& dims,
                     ElementType element, bool transpose) {
    const Dims own = task.dims(id);
    auto md = descriptor(layout, own, element);
    if (own.size() != dims.size()) {
        if (layout != plan::plain(own.size())) return {};
        md = plain_descriptor(dims, element);
    }
    return transposed(md, transpose);
}

struct Formats {
    Layout a, b, result;
    Precision precision;  // of A and B, of the result
};

template <class Visit>
void each_implementation(const Task& task, const MatrixProduct& product,
                         const std::vector<EpilogueStep>& steps, const Formats& formats, bool sum_in_place,
                         Visit visit) {
    const auto operations = post_ops(
        task, steps, product.result, product.collapsed ? plan::plain(2) : formats.result, sum_in_place,
        (product.constant_b ? 1U : 0U) +
            (product.bias != graph::ValueId::none && product.constant_bias ? 1U : 0U),
        formats.precision.result);
    if (!operations) return;
    const auto [source, target] = formats.precision;
    const auto a = product.collapsed
                       ? plain_descriptor(product.a_dims, source)
                       : operand(task, product.a, formats.a, product.a_dims, source, product.transpose_a);
    const auto result = product.collapsed ? plain_descriptor(product.result, target)
                                          : descriptor(formats.result, product.result, target);
    Dims b_dims = product.b_dims;
    if (product.transpose_b) std::swap(b_dims[b_dims.size() - 1], b_dims[b_dims.size() - 2]);
    const auto b = product.constant_b
                       ? any_descriptor(b_dims, source)
                       : operand(task, product.b, formats.b, product.b_dims, source, product.transpose_b);
    if (a.data.ndims == 0 || b.data.ndims == 0) return;
    Dims bias_dims(product.result.size(), 1);
    bias_dims.back() = product.n;
    const auto bias = plain_descriptor(bias_dims, ElementType::f32);
    try {
        const bool biased = product.bias != graph::ValueId::none;
        const matmul::desc description =
            biased ? matmul::desc(a, b, bias, result) : matmul::desc(a, b, result);
        matmul::primitive_desc implementation(description, operations->attributes, task.context.engine);
        do
            if (visit(implementation, *operations)) return;
        while (implementation.next_impl());
    } catch (const dnnl::error&) {
        return;  // not offered in these layouts
    }
}

// The format combinations of a product. Where rows were collapsed, A and the result have plain ones only.
std::vector<Formats> format_list(const Task& task, const MatrixProduct& product) {
    const auto rank_a = task.dims(product.a).size();
    const auto rank_b = task.dims(product.b).size();
    const auto rank = task.dims(task.node().outputs[0]).size();
    std::vector<Formats> list;
    for (const Precision& precision : contraction_precisions(task.context)) {
        const auto b_orders =
            product.constant_b ? std::vector{plan::plain(rank_b)} : operand_orders(rank_b, true);
        if (product.collapsed) {
            for (const Layout& b : b_orders)
                list.push_back({plan::plain(rank_a), b, plan::plain(rank), precision});
            continue;
        }
        for (const Layout& a : operand_orders(rank_a, false))
            for (const Layout& b : b_orders)
                for (const Layout& result : result_orders(rank)) list.push_back({a, b, result, precision});
    }
    return list;
}

bool operands_fit(const Task& task, const std::vector<EpilogueStep>& steps, const MatrixProduct& product) {
    // Batched products: oneDNN 2.6.3 is only trusted with scalars. Collapsed rows: an operand is of the
    // result's size, or varies along the last axis only.
    if (!product.collapsed && product.result.size() <= 2) return true;
    const Dims result = task.dims(task.node().outputs[0]);
    for (const EpilogueStep& step : steps) {
        if (!is_binary(step.function)) continue;
        const Dims dims = task.dims(step.operand);
        std::int64_t count = 1;
        for (const auto dimension : dims) count *= dimension;
        if (!product.collapsed && count != 1) return false;
        if (dims != result && count != 1 && (dims.empty() || dims.back() != count)) return false;
    }
    return true;
}

std::vector<plan::Choice> offers_dnnl_matmul(const Task& task) {
    const auto product = matrix_product(task);
    const auto steps = product ? read_epilogue(task) : std::nullopt;
    if (!steps || !operands_fit(task, *steps, *product)) return {};
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    for (const Formats& formats : format_list(task, *product))
        for (const bool sum_in_place : {true, false})
            each_implementation(task, *product, *steps, formats, sum_in_place,
                                [&](const auto& implementation, const PostOps& operations) {
                                    const std::string name = implementation.impl_info_str();
                                    if (!worth_offering(name)) return false;
                                    plan::Choice choice = task.plain_choice(
                                        fmt::format("{}:{}", dnnl_matmul_family_name, name));
                                    const auto [source, target] = formats.precision;
                                    choice.inputs[*task.input_index(product->a)] = {formats.a, source, {}};
                                    if (const auto b = task.input_index(product->b))
                                        choice.inputs[*b] = {formats.b, source, {}};
                                    choice.outputs[0] = {formats.result, target, {}};
                                    set_operand_formats(task, *steps, task.dims(task.node().outputs[0]),
                                                        choice.outputs[0], choice);
                                    set_memory(operations, implementation.scratchpad_desc(), choice);
                                    if (seen.insert(choice.key()).second)
                                        choices.push_back(std::move(choice));
                                    return false;
                                });
    return choices;
}

Result<Kernel> prepare_dnnl_matmul(const Task& task, const plan::Choice& choice) {
    const auto product = matrix_product(task);
    const auto steps = product ? read_epilogue(task) : std::nullopt;
    if (!steps || !operands_fit(task, *steps, *product)) return unknown_kernel(choice);
    const std::size_t a = *task.input_index(product->a);
    const auto b = task.input_index(product->b);
    const Formats formats{choice.inputs[a].layout,
                          b ? choice.inputs[*b].layout : Layout{},
                          choice.outputs[0].layout,
                          {choice.inputs[a].element, choice.outputs[0].element}};
    std::optional<Kernel> kernel;
    each_implementation(
        task, *product, *steps, formats, choice.aliasing == plan::Aliasing::overwrite,
        [&](const auto& implementation, const PostOps& operations) {
            if (choice.kernel !=
                fmt::format("{}:{}", dnnl_matmul_family_name, implementation.impl_info_str()))
                return false;
            std::vector<Argument> arguments = {
                {Argument::From::input, a, DNNL_ARG_SRC, implementation.src_desc()},
                {Argument::From::output, 0, DNNL_ARG_DST, implementation.dst_desc()}};
            std::vector<Packed> constants;
            if (product->constant_b) {
                arguments.push_back(
                    {Argument::From::constant, 0, DNNL_ARG_WEIGHTS, implementation.weights_desc()});
                constants.push_back(pack_constant(
                    task, product->b,
                    transposed(plain_descriptor(product->b_dims, ElementType::f32), product->transpose_b),
                    implementation.weights_desc()));
            } else {
                arguments.push_back(
                    {Argument::From::input, *b, DNNL_ARG_WEIGHTS, implementation.weights_desc()});
            }
            if (product->bias != graph::ValueId::none) {
                const auto given = task.input_index(product->bias);
                arguments.push_back({given ? Argument::From::input : Argument::From::constant,
                                     given ? *given : constants.size(), DNNL_ARG_BIAS,
                                     implementation.bias_desc()});
                if (!given) constants.push_back(plain_constant(task, product->bias));
            }
            arguments.insert(arguments.end(), operations.arguments.begin(), operations.arguments.end());
            for (const auto id : operations.constants) constants.push_back(plain_constant(task, id));
            kernel = primitive_kernel(task.context, matmul(implementation), std::move(arguments),
                                      std::move(constants), implementation.scratchpad_desc());
            return true;
        });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace

Family dnnl_matmul_family() { return {dnnl_matmul_family_name, offers_dnnl_matmul, prepare_dnnl_matmul}; }

}  // namespace viridian::execute::cpu
