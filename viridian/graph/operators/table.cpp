#include <map>

#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/rules.hpp"

namespace viridian::graph {
namespace {

using Table = std::map<std::pair<std::string_view, std::string_view>, const OperatorRow*>;

std::vector<std::span<const OperatorRow>> families() {
    // clang-format off
    return {
        activation_operators(),
        arg_reduction_operators(),
        arithmetic_operators(),
        attention_operators(),
        batch_normalization_operators(),
        bitwise_operators(),
        cache_operators(),
        casting_operators(),
        center_crop_pad_operators(),
        concatenation_operators(),
        constant_operators(),
        control_operators(),
        convolution_operators(),
        deformable_operators(),
        depth_operators(),
        dropout_operators(),
        einsum_operators(),
        fourier_operators(),
        gathering_operators(),
        global_pooling_operators(),
        local_normalization_operators(),
        logic_operators(),
        loss_operators(),
        masking_operators(),
        matrix_operators(),
        microsoft_operators(),
        normalization_operators(),
        padding_operators(),
        pooling_operators(),
        quantization_operators(),
        quantized_product_operators(),
        random_operators(),
        recurrent_operators(),
        reduction_operators(),
        region_operators(),
        reshaping_operators(),
        resize_operators(),
        rotary_operators(),
        sampling_operators(),
        scattering_operators(),
        selection_operators(),
        sequence_operators(),
        signal_operators(),
        slicing_operators(),
        softmax_operators(),
        sorting_operators(),
        state_space_operators(),
        suppression_operators(),
        transposed_convolution_operators(),
        transposition_operators(),
        unary_operators(),
        unpooling_operators(),
    };
    // clang-format on
}

const Table& table() {
    static const Table rows = [] {
        Table all;
        for (const auto family : families())
            for (const OperatorRow& row : family) all.emplace(std::pair(row.domain, row.name), &row);
        return all;
    }();
    return rows;
}

Bytes bytes_of(std::span<const TensorType> types) {
    Bytes sum;
    for (const TensorType& type : types) {
        if (type.element == ElementType::undefined) continue;
        std::int64_t count = 1;
        for (const std::int64_t dimension : type.dims()) count *= dimension;
        sum += Bytes(count * size_of(type.element));
    }
    return sum;
}

}  // namespace

const OperatorRow* find_operator(std::string_view domain, std::string_view name) {
    if (domain == "ai.onnx") domain = "";
    const auto found = table().find({domain, name});
    return found == table().end() ? nullptr : found->second;
}

std::vector<const OperatorRow*> all_operators() {
    std::vector<const OperatorRow*> all;
    for (const auto family : families())
        for (const OperatorRow& row : family) all.push_back(&row);
    return all;
}

Flop flop(const Operation& operation) {
    const OperatorRow* row = find_operator(operation.node);
    if (row == nullptr) return Flop(0);
    if (row->flop != nullptr) return row->flop(operation);
    if (row->operator_class != OperatorClass::elementwise) return Flop(0);
    std::int64_t count = 1;
    for (const std::int64_t dimension : operation.outputs[0].dims()) count *= dimension;
    return Flop(count);
}

Bytes bytes_read(const Operation& operation) {
    const OperatorRow* row = find_operator(operation.node);
    return row != nullptr && row->bytes_read != nullptr ? row->bytes_read(operation)
                                                        : bytes_of(operation.inputs);
}

Bytes bytes_written(const Operation& operation) { return bytes_of(operation.outputs); }

IterationSpace iteration_space(const Operation& operation) {
    const OperatorRow* row = find_operator(operation.node);
    if (row != nullptr && row->iteration_space != nullptr) return row->iteration_space(operation);
    return summed_over(operation, Dims());
}

}  // namespace viridian::graph
