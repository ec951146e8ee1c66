#include <algorithm>
#include <array>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// Each family is defined in a source of its own.
Family view_family();
Family concat_family();
Family simd_convolution_family();
Family simd_grouped_convolution_family();
Family simd_depthwise_family();
Family simd_winograd_family();
Family dnnl_convolution_family();
Family weight_gradient_family();
Family dnnl_convolution_gradient_family();
Family batch_normalization_family();
Family cross_entropy_family();
Family max_pool_family();
Family one_hot_family();
Family gather_gradient_family();
Family dropout_mask_family();
Family composed_family();
Family simd_pooling_family();
Family dnnl_pooling_family();
Family simd_matmul_family();
Family contraction_family();
Family simd_bf16_matmul_family();
Family simd_tile_convolution_family();
Family simd_tile_matmul_family();
Family dnnl_matmul_family();
Family simd_attention_family();
Family simd_attention_gradient_family();
Family fused_family();
Family dnnl_softmax_family();
Family gather_family();
Family pad_family();
Family dnnl_deconvolution_family();
Family reduction_family();
Family grid_sample_family();
Family group_normalization_family();
Family resize_family();
Family recurrent_family();
Family movement_family();
Family numeric_family();
Family reference_family();

std::span<const Family> families() {
    static const std::array list = {
        view_family(),
        concat_family(),
        simd_convolution_family(),
        simd_grouped_convolution_family(),
        simd_depthwise_family(),
        simd_winograd_family(),
        dnnl_convolution_family(),
        weight_gradient_family(),
        dnnl_convolution_gradient_family(),
        simd_pooling_family(),
        dnnl_pooling_family(),
        simd_matmul_family(),
        simd_bf16_matmul_family(),
        simd_tile_convolution_family(),
        simd_tile_matmul_family(),
        contraction_family(),
        dnnl_matmul_family(),
        simd_attention_family(),
        simd_attention_gradient_family(),
        reduction_family(),
        fused_family(),
        dnnl_softmax_family(),
        gather_family(),
        pad_family(),
        dnnl_deconvolution_family(),
        grid_sample_family(),
        group_normalization_family(),
        resize_family(),
        recurrent_family(),
        movement_family(),
        numeric_family(),
        batch_normalization_family(),
        cross_entropy_family(),
        max_pool_family(),
        one_hot_family(),
        gather_gradient_family(),
        dropout_mask_family(),
        composed_family(),
        reference_family(),
    };
    return list;
}

const Family* family_of(std::string_view kernel) {
    for (const Family& family : families())
        if (kernel.starts_with(family.name) &&
            (kernel.size() == family.name.size() || kernel[family.name.size()] == ':'))
            return &family;
    return nullptr;
}

Error unknown_kernel(const plan::Choice& choice) {
    return fail(ErrorCode::unsupported, "make the plan again on this machine",
                "this device has no kernel `{}` for its region", choice.key());
}

std::optional<std::size_t> Task::input_index(graph::ValueId id) const {
    for (std::size_t i = 0; i < region.inputs.size(); ++i)
        if (region.inputs[i] == id) return i;
    return std::nullopt;
}

bool Task::reads_first_output() const {
    return !region.outputs.empty() && region.outputs[0] == node(region.nodes.size() - 1).output(0);
}

bool Task::all_f32() const {
    const auto fits = [&](graph::ValueId id) {
        const auto element = type(id).element;
        return element == graph::ElementType::f32 || !graph::is_floating(element);
    };
    return std::ranges::all_of(region.inputs, fits) && std::ranges::all_of(region.outputs, fits) &&
           std::ranges::all_of(region.constants, fits);
}

plan::Choice Task::plain_choice(std::string kernel) const {
    plan::Choice choice;
    choice.kernel = std::move(kernel);
    choice.variant.algorithm = plan::Algorithm::direct;
    const auto format = [&](graph::ValueId id) {
        return plan::Format{plan::plain(dims(id).size()), type(id).element, {}};
    };
    for (const graph::ValueId id : region.inputs) choice.inputs.push_back(format(id));
    for (const graph::ValueId id : region.outputs) choice.outputs.push_back(format(id));
    return choice;
}

Packed plain_constant(const Task& task, graph::ValueId id) {
    const graph::Tensor& tensor = *task.graph.constant(id);
    const auto bytes = static_cast<std::size_t>(tensor.byte_count());
    return task.context.packed->find_or_make(fmt::format("plain {:x}", tensor.content_hash()), bytes,
                                             [&](std::byte* to) {
                                                 if (bytes > 0) std::copy_n(tensor.bytes(), bytes, to);
                                             });
}

}  // namespace viridian::execute::cpu
