#include "viridian/execute/cpu/kernels/product/attention_matrices.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using plan::Layout;

// The matrices of an addend or factor of the scores, whose rows and columns may be repeated, too.
AttentionMatrices repeated_attention_matrices(const AttentionRegion& attention, const Dims& dims) {
    const std::size_t rank = dims.size();
    AttentionMatrices matrices = attention_matrices(attention, dims, plan::plain(rank));
    if (dims[rank - 2] == 1) matrices.row = 0;
    if (dims[rank - 1] == 1) matrices.column = 0;
    return matrices;
}

}  // namespace

AttentionMatrices attention_matrices(const AttentionRegion& attention, const Dims& dims, Layout layout) {
    const std::size_t rank = dims.size(), missing = rank - layout.rank();
    for (std::uint8_t& axis : layout.order) axis = static_cast<std::uint8_t>(axis + missing);
    for (std::size_t i = missing; i-- > 0;)
        layout.order.insert(layout.order.begin(), static_cast<std::uint8_t>(i));
    const std::vector<std::int64_t> strides = plan::strides_of(layout, dims);
    const auto stride = [&](std::size_t i) { return dims[i] == 1 ? 0 : strides[i]; };
    AttentionMatrices matrices;
    matrices.row = strides[rank - 2], matrices.column = strides[rank - 1];
    matrices.starts = {0};
    for (std::size_t i = 0; i < attention.leading.size(); ++i) {
        std::vector<std::int64_t> longer;
        for (const std::int64_t start : matrices.starts)
            for (std::int64_t j = 0; j < attention.leading[i]; ++j) longer.push_back(start + j * stride(i));
        matrices.starts = std::move(longer);
    }
    return matrices;
}

AttentionScores::AttentionScores(const AttentionRegion& attention)
    : scale(static_cast<float>(attention.scale)), kept_scale(static_cast<float>(attention.kept_scale)) {
    for (const auto& mask : attention.masks)
        masks.push_back(repeated_attention_matrices(attention, mask.dims));
    for (const auto& factor : attention.scales)
        scales.push_back(repeated_attention_matrices(attention, factor.dims));
    if (attention.kept) kept = repeated_attention_matrices(attention, attention.kept->dims);
    if (!attention.hidden) return;
    hidden = repeated_attention_matrices(attention, attention.hidden->flags.dims);
    hidden_keeps = attention.hidden->keeps;
    hidden_value = static_cast<float>(attention.hidden->value);
}

float AttentionScores::scale_of(const Pointers& pointers, std::int64_t head) const {
    float product = scale;
    for (const AttentionMatrices& factor : scales) product *= *factor.of(pointers, head).first;
    return product;
}

void AttentionScores::add_masks(const Pointers& pointers, std::int64_t head, std::int64_t row,
                                std::int64_t key, simd::ScoreBlock& block) const {
    for (const AttentionMatrices& mask : masks) {
        const simd::MatrixView m = mask.of(pointers, head);
        block.masks[static_cast<std::size_t>(block.mask_count++)] = {m.first + row * m.row + key * m.column,
                                                                     m.row, m.column};
    }
    block.hidden = hidden_of(pointers, head, row, key);
}

simd::ScoreBlock::Hidden AttentionScores::hidden_of(const Pointers& pointers, std::int64_t head,
                                                    std::int64_t row, std::int64_t key) const {
    if (!hidden) return {};
    const auto* first = reinterpret_cast<const std::uint8_t*>(hidden->port.first(pointers));
    return {first + hidden->start(head) + row * hidden->row + key * hidden->column, hidden->row,
            hidden->column, hidden_keeps, hidden_value};
}

simd::KeptScores AttentionScores::kept_of(const Pointers& pointers, std::int64_t head, std::int64_t row,
                                          std::int64_t key) const {
    if (!kept) return {};
    const auto* first = reinterpret_cast<const std::uint8_t*>(kept->port.first(pointers));
    return {first + kept->start(head) + row * kept->row + key, kept->row};
}

void find_attention_port(const Task& task, ValueId id, Kernel& kernel, AttentionMatrices& matrices) {
    if (const auto at = task.input_index(id)) {
        matrices.port = {AttentionPort::Where::input, *at};
    } else {
        matrices.port = {AttentionPort::Where::constant, kernel.constants.size()};
        kernel.constants.push_back(plain_constant(task, id));
    }
}

void find_attention_operand(const Task& task, ValueId id, const plan::Choice& choice, Kernel& kernel,
                            AttentionMatrices& matrices) {
    find_attention_port(task, id, kernel, matrices);
    matrices.bf16 =
        matrices.port.where == AttentionPort::Where::input && in_bf16(choice.inputs[matrices.port.index]);
}

void find_attention_ports(const Task& task, const AttentionRegion& attention, Kernel& kernel,
                          AttentionScores& scores) {
    for (std::size_t i = 0; i < scores.masks.size(); ++i)
        find_attention_port(task, attention.masks[i].value, kernel, scores.masks[i]);
    for (std::size_t i = 0; i < scores.scales.size(); ++i)
        find_attention_port(task, attention.scales[i].value, kernel, scores.scales[i]);
    if (scores.hidden) find_attention_port(task, attention.hidden->flags.value, kernel, *scores.hidden);
    if (scores.kept) find_attention_port(task, attention.kept->value, kernel, *scores.kept);
}

bool attention_multiplies_bf16(const Task& task, const std::vector<ValueId>& operands,
                               const std::vector<std::int64_t>& extents, const plan::Choice& choice) {
    const auto is_narrow = [&](ValueId id) {
        const auto at = task.input_index(id);
        return at && in_bf16(choice.inputs[*at]);
    };
    return task.context.multiplies_bf16() && std::ranges::all_of(operands, is_narrow) &&
           std::ranges::all_of(extents, [](std::int64_t extent) { return extent % 2 == 0; });
}

std::int64_t attention_row_block(const AttentionRegion& attention, std::int64_t most, int threads) {
    const std::int64_t tile = simd::tile_pixels();
    const std::int64_t fair = parts_of(attention.heads() * attention.rows, std::int64_t{2} * threads);
    const std::int64_t rows = std::min(most, std::max(tile, fair));
    const std::int64_t even = parts_of(attention.rows, parts_of(attention.rows, rows));
    return std::min(attention.rows, parts_of(even, tile) * tile);  // whole tiles
}

void offer_attention_in_bf16(const Task& task, const AttentionRegion& attention,
                             const std::vector<ValueId>& operands, std::vector<plan::Choice>& choices) {
    const auto is_operand = [&](ValueId id) { return std::ranges::find(operands, id) != operands.end(); };
    const auto reads = [&](const auto& other) { return is_operand(other.value); };
    if (std::ranges::any_of(attention.masks, reads) || std::ranges::any_of(attention.scales, reads)) return;
    offer_widened(task, [&](std::size_t i) { return is_operand(task.region.inputs[i]); }, choices);
}

}  // namespace viridian::execute::cpu
