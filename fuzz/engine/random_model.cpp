#include "fuzz/engine/random_model.hpp"

#include <algorithm>

#include "fuzz/engine/hostile.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::fuzz {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Tensor;
using graph::ValueId;

// Operators that networks consist of; half of all nodes are among them.
constexpr std::string_view frequent[] = {"Conv",
                                         "ConvTranspose",
                                         "MatMul",
                                         "Gemm",
                                         "Add",
                                         "Mul",
                                         "Sub",
                                         "Div",
                                         "Relu",
                                         "Sigmoid",
                                         "Tanh",
                                         "Clip",
                                         "Gelu",
                                         "HardSwish",
                                         "BatchNormalization",
                                         "LayerNormalization",
                                         "Softmax",
                                         "MaxPool",
                                         "AveragePool",
                                         "GlobalAveragePool",
                                         "Reshape",
                                         "Transpose",
                                         "Concat",
                                         "Split",
                                         "Slice",
                                         "Pad",
                                         "Resize",
                                         "Gather",
                                         "ReduceSum",
                                         "ReduceMean",
                                         "Squeeze",
                                         "Unsqueeze",
                                         "Cast",
                                         "Where",
                                         "Expand",
                                         "LSTM",
                                         "GRU",
                                         "RNN"};

class Builder {
  public:
    explicit Builder(Random& random) : random_(random) {}

    std::string build() {
        for (std::uint64_t i = 1 + random_.below(2); i > 0; --i)
            values_.push_back(graph_.add_input("x", some_tensor(some_dims()).tensor_type()));
        const std::uint64_t wanted = 1 + random_.below(8);
        for (int tries = 0; tries < 120 && graph_.node_slots() < wanted; ++tries) add_some_node();
        std::vector<ValueId> outputs;
        for (const ValueId id : values_)
            if (graph_.producer(id) != nullptr && (id == values_.back() || random_.chance(0.2)))
                outputs.push_back(id);
        graph_.set_outputs(outputs);
        auto bytes = onnx::serialize(graph_);
        return bytes.ok() ? *std::move(bytes) : std::string();
    }

  private:
    std::int64_t some_size() {
        constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
        return random_.chance(0.03) ? 0 : sizes[random_.below(std::size(sizes))];
    }
    Dims some_dims() {
        Dims dims(random_.chance(0.6) ? 4 : random_.below(5));
        for (std::int64_t& size : dims) size = some_size();
        return dims;
    }
    Tensor some_tensor(Dims dims) {
        constexpr ElementType types[] = {ElementType::f32, ElementType::f32, ElementType::f32,
                                         ElementType::i64, ElementType::i32, ElementType::u8,
                                         ElementType::i8,  ElementType::f16, ElementType::boolean,
                                         ElementType::f64, ElementType::bf16};
        const ElementType type =
            random_.chance(0.6) ? ElementType::f32 : types[random_.below(std::size(types))];
        std::int64_t count = 1;
        for (std::int64_t& size : dims) {
            if (count * size > 4096) size = 1;
            count *= size;
        }
        graph::Array<float> array(type, std::move(dims));
        for (float& value : array.real) value = some_number(random_);
        for (std::int64_t& value : array.integer) value = some_integer(random_);
        return graph::tensor_of(array);
    }
    // Dimensions that may fit beside `other`: the same, some of them, or those of weights that multiply it.
    Dims related(const Dims& other) {
        Dims dims = other;
        if (dims.empty()) return some_dims();
        const std::size_t rank = dims.size();
        switch (random_.below(6)) {
            case 0:
                dims[random_.below(rank)] = 1;
                break;
            case 1:
                dims = {dims[random_.below(rank)]};
                break;
            case 2:  // weights of a convolution over it
                if (rank < 3) break;
                dims[0] = some_size();
                for (std::size_t i = 2; i < rank; ++i) dims[i] = random_.between(1, 3);
                break;
            case 3:
                dims = {dims.back(), some_size()};
                break;  // the right factor of a product
            case 4:
                dims = {static_cast<std::int64_t>(random_.below(rank + 1))};
                break;  // one for some axes
            default:
                break;
        }
        return dims;
    }
    ValueId some_constant(const Dims& beside) {
        const bool near = random_.chance(0.8);
        const Tensor tensor = some_tensor(near ? related(beside) : some_dims());
        return graph_.add_constant("c", tensor);
    }
    const graph::OperatorRow* some_row() {
        static const std::vector<const graph::OperatorRow*> rows = graph::all_operators();
        if (random_.chance(0.5))
            return graph::find_operator("", frequent[random_.below(std::size(frequent))]);
        return rows[random_.below(rows.size())];
    }
    void add_some_node() {
        const graph::OperatorRow* row = some_row();
        if (row == nullptr) return;
        graph::Node node;
        node.op = graph::Operator(row->name, row->domain);
        const int most = std::min(row->inputs.most, row->inputs.least + 4);
        const std::int64_t count = random_.between(row->inputs.least, most);
        const ValueId first =
            values_[values_.size() - 1 - random_.below(std::min<std::size_t>(values_.size(), 3))];
        const graph::TensorType& type = graph_.value(first).type;
        const Dims dims = type.known() ? type.dims() : some_dims();
        for (std::int64_t i = 0; i < count; ++i) {
            if (i == 0)
                node.inputs.push_back(first);
            else if (i >= row->inputs.least && random_.chance(0.2))
                node.inputs.push_back(ValueId::none);
            else
                node.inputs.push_back(random_.chance(0.5) ? values_[random_.below(values_.size())]
                                                          : some_constant(dims));
        }
        for (std::uint64_t i = random_.below(5); i > 0; --i) node.attributes.insert(some_attribute(random_));
        const auto outputs = static_cast<std::size_t>(
            random_.between(std::max(1, row->outputs.least), std::max(1, std::min(row->outputs.most, 4))));
        graph::Graph before = graph_;
        const graph::NodeId id = graph_.add_node(std::move(node), outputs);
        if (!graph::infer_node_types(graph_, id).ok() && !random_.chance(0.02)) {
            graph_ = std::move(before);
            return;
        }
        for (const ValueId output : graph_.node(id).outputs) values_.push_back(output);
    }

    Random& random_;
    graph::Graph graph_;
    std::vector<ValueId> values_;  // inputs and results
};

}  // namespace

std::string random_model(Random& random) { return Builder(random).build(); }

}  // namespace viridian::fuzz
