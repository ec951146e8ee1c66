// Operators on nonsense: random element types, shapes, values and attributes. Any answer will do but a crash,
// gigabytes, or (under sanitizers) undefined behaviour.
#include <gtest/gtest.h>

#include <limits>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {
namespace {

constexpr const char* keys[] = {"axis",
                                "axes",
                                "keepdims",
                                "perm",
                                "shape",
                                "k",
                                "to",
                                "dtype",
                                "start",
                                "end",
                                "batch_dims",
                                "num_outputs",
                                "num_scan_inputs",
                                "captures",
                                "kernel_shape",
                                "strides",
                                "pads",
                                "dilations",
                                "group",
                                "output_padding",
                                "output_shape",
                                "ceil_mode",
                                "count_include_pad",
                                "storage_order",
                                "allowzero",
                                "exclusive",
                                "reverse",
                                "batch_axis",
                                "time_axis",
                                "sorted",
                                "largest",
                                "upper",
                                "depth",
                                "blocksize",
                                "p",
                                "size",
                                "hidden_size",
                                "num_heads",
                                "q_num_heads",
                                "kv_num_heads",
                                "is_causal",
                                "num_groups",
                                "block_size",
                                "sample_size",
                                "noop_with_empty_axes",
                                "select_last_index",
                                "transA",
                                "transB",
                                "sampling_ratio",
                                "output_height",
                                "output_width",
                                "onesided",
                                "align_corners",
                                "antialias",
                                "saturate",
                                "interleaved",
                                "rotary_embedding_dim",
                                "detect_negative",
                                "fmod",
                                "ignore_index"};
constexpr const char* words[] = {
    "mode",     "reduction",    "auto_pad",    "direction",    "coordinate_transformation_mode",
    "equation", "padding_mode", "approximate", "nearest_mode", "layout"};
constexpr const char* texts[] = {
    "add",    "mul",   "max",           "SAME_UPPER",         "VALID", "reflect",   "wrap", "edge", "LEFT",
    "linear", "cubic", "bidirectional", "ij,jk->ik",          "ii",    "...i->...", "none", "sum",  "mean",
    "DCR",    "CRD",   "circular",      "tf_crop_and_resize", "tanh"};

std::int64_t some_integer(Random& random) {
    constexpr std::int64_t extreme[] = {std::numeric_limits<std::int64_t>::min(),
                                        std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 40,
                                        -1000000};
    return random.chance(0.08) ? extreme[random.below(4)] : random.between(-2, 5);
}

Dims some_list(Random& random) {
    Dims list(random.below(5));
    for (std::int64_t& value : list) value = some_integer(random);
    return list;
}

Tensor some_tensor(Random& random) {
    constexpr ElementType types[] = {ElementType::f32, ElementType::f32,    ElementType::f32,
                                     ElementType::i64, ElementType::i64,    ElementType::i32,
                                     ElementType::u64, ElementType::u8,     ElementType::i8,
                                     ElementType::f16, ElementType::boolean};
    const ElementType type = types[random.below(std::size(types))];
    Dims dims(random.below(5));
    for (std::int64_t& d : dims) d = random.between(random.chance(0.1) ? 0 : 1, 4);
    Array<float> array(type, dims);
    for (float& value : array.real) {
        value = static_cast<float>(random.normal());
        if (random.chance(0.03)) value = random.chance(0.5) ? std::numeric_limits<float>::quiet_NaN() : 1e30F;
    }
    for (std::int64_t& value : array.integer) value = some_integer(random);
    return tensor_of(array);
}

void nonsense(const OperatorRow& row, Random& random) {
    Graph graph;
    Node node;
    node.op = graph::Operator(std::string(row.name), std::string(row.domain));
    const int most = std::min(row.inputs.most, row.inputs.least + 4);
    const std::int64_t count = random.between(row.inputs.least, most);
    std::vector<Tensor> inputs;
    for (std::int64_t i = 0; i < count; ++i) {
        if (i >= row.inputs.least && random.chance(0.2)) {
            node.inputs.push_back(ValueId::none);
            continue;
        }
        const Tensor tensor = some_tensor(random);
        if (random.chance(0.5)) {
            node.inputs.push_back(graph.add_constant("c", tensor));
        } else {
            node.inputs.push_back(graph.add_input("x", tensor.tensor_type()));
            inputs.push_back(tensor);
        }
    }
    for (const char* key : keys)
        if (random.chance(0.15)) {
            if (random.chance(0.5))
                node.attributes[key] = some_integer(random);
            else
                node.attributes[key] = some_list(random);
        }
    for (const char* key : words)
        if (random.chance(0.3)) node.attributes[key] = std::string(texts[random.below(std::size(texts))]);
    const auto outputs = static_cast<std::size_t>(
        random.between(std::max(1, row.outputs.least), std::max(1, std::min(row.outputs.most, 4))));
    graph.set_outputs(graph.node(graph.add_node(node, outputs)).outputs);
    (void)infer_types(graph);  // evaluation must not rely on it
    (void)evaluate(graph, inputs);
}

class Operators : public testing::TestWithParam<const OperatorRow*> {};

TEST_P(Operators, SurviveNonsense) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        nonsense(*GetParam(), random);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Operators, testing::ValuesIn(all_operators()), [](const auto& parameter) {
    return std::to_string(parameter.index) + std::string(parameter.param->name);
});

}  // namespace
}  // namespace viridian::graph
