#include "viridian/train/weights/head.hpp"

#include <algorithm>

#include "viridian/graph/infer.hpp"
#include "viridian/train/weights/parts.hpp"

namespace viridian::train {
namespace {

namespace op = graph::op;
using graph::Dims;
using graph::Graph;
using graph::Node;
using graph::ValueId;

// Operators through which the classes pass, in the first input.
constexpr graph::KnownOperator passing[] = {
    op::Softmax,           op::LogSoftmax,  op::Sigmoid,    op::Identity, op::Cast,    op::Dropout, op::Relu,
    op::GlobalAveragePool, op::AveragePool, op::ReduceMean, op::Flatten,  op::Reshape, op::Squeeze};

class HeadMaker {
  public:
    HeadMaker(const Graph& network, std::int64_t classes, std::uint64_t seed)
        : made_{network, {}}, uses_(uses(network)), classes_(classes), seed_(seed) {}

    Result<NewHead> make(ValueId output) {
        VIRIDIAN_TRY(find(output));
        VIRIDIAN_TRY(change_weight());
        if (bias_ != ValueId::none) VIRIDIAN_TRY(change_bias());
        for (const auto& [id, part] : parts_) {
            const std::string& name = made_.network.value(id).name;
            VIRIDIAN_TRY(graph::Tensor tensor, draw({}, seed_, name, part));
            made_.parameters.push_back(name);
            made_.network.make_constant(id, std::move(tensor));
        }
        if (const auto inferred = infer_types(made_.network); !inferred.ok())
            return fail(ErrorCode::unsupported, "export the model with the number of classes that you need",
                        "the network does not take a head of {} classes: {}", classes_,
                        inferred.error().message);
        return std::move(made_);
    }

  private:
    Error no_layer(ValueId output, const Node* node) const {
        return fail(
            ErrorCode::unsupported, "name another output with --output",
            "the output `{}` comes from {}, and a new head replaces a Gemm, MatMul or Conv with weights",
            made_.network.value(output).name,
            node == nullptr ? std::string("no node") : fmt::format("`{}` ({})", node->name, node->op.name()));
    }

    // Walks from the output back to the layer.
    Result<void> find(ValueId output) {
        const Graph& graph = made_.network;
        ValueId at = output;
        for (;;) {
            const Node* node = graph.producer(at);
            if (node == nullptr) return no_layer(output, nullptr);
            if (node->op == op::Gemm || node->op == op::Conv || node->op == op::MatMul) {
                layer_ = *node;
                if (node->input(2) != ValueId::none && bias_ != ValueId::none) return no_layer(output, node);
                if (node->input(2) != ValueId::none) bias_ = node->input(2);
                return {};
            }
            if (node->op == op::Add) {
                const std::size_t added = graph.constant(node->input(0)) != nullptr ? 0 : 1;
                if (graph.constant(node->input(added)) == nullptr || bias_ != ValueId::none)
                    return no_layer(output, node);
                bias_ = node->input(added);
                at = node->input(1 - added);
            } else if (std::ranges::any_of(passing, [&](const auto& known) { return node->op == known; })) {
                at = node->input(0);
            } else {
                return no_layer(output, node);
            }
        }
    }

    // Errors: unsupported unless the constant is read by the layer alone.
    Result<void> check_own(ValueId id) const {
        const graph::Value& value = made_.network.value(id);
        if (made_.network.constant(id) == nullptr)
            return fail(ErrorCode::unsupported, "export the model with its last layer as it is",
                        "the weights `{}` of the last layer are computed, so they cannot be replaced",
                        value.name);
        if (uses_.count(id) > 1)
            return fail(ErrorCode::unsupported, "export the model without sharing them",
                        "the last layer shares `{}` with another node, so that it cannot be replaced",
                        value.name);
        return {};
    }

    Result<void> change_weight() {
        ValueId weight = layer_.input(1);
        bool turned = false;
        if (const Node* before = made_.network.producer(weight);
            before != nullptr && before->op == op::Transpose && uses_.count(weight) == 1) {
            weight = before->input(0);
            turned = true;
        }
        VIRIDIAN_TRY(check_own(weight));
        const std::optional<FoundPart> part = part_of(made_.network, uses_, weight);
        Dims dims = made_.network.value(weight).type.dims();
        if (!part || dims.size() < 2 || (turned && dims.size() != 2) || layer_.integer("group", 1) != 1)
            return fail(ErrorCode::unsupported, "export the model with a plain last layer",
                        "the last layer `{}` ({}) cannot be replaced", layer_.name, layer_.op.name());
        ParameterShape shape = part->shape;
        std::int64_t& extent = shape.part == Part::matrix ? dims.back() : dims.front();
        old_ = extent;
        extent = classes_;
        shape.dims = dims;
        fan_in_ = fans_of(shape.part, dims)->in;
        parts_.emplace_back(weight, shape);
        return {};
    }

    Result<void> change_bias() {
        VIRIDIAN_TRY(check_own(bias_));
        const graph::TensorType& type = made_.network.value(bias_).type;
        Dims dims = type.dims();
        const auto extent = std::find(dims.rbegin(), dims.rend(), old_);
        if (extent == dims.rend())
            return fail(ErrorCode::unsupported, "export the model with a plain last layer",
                        "the bias `{}` is {}, which is not one number for each of {} classes",
                        made_.network.value(bias_).name, text(type), old_);
        *extent = classes_;
        parts_.emplace_back(
            bias_, ParameterShape{.part = Part::bias, .type = type.element, .dims = dims, .fan_in = fan_in_});
        return {};
    }

    NewHead made_;
    graph::Uses uses_;
    std::int64_t classes_;
    std::uint64_t seed_;
    Node layer_;
    ValueId bias_ = ValueId::none;
    std::int64_t old_ = 0, fan_in_ = 0;  // classes of the old layer; inputs of each output
    std::vector<std::pair<ValueId, ParameterShape>> parts_;
};

}  // namespace

Result<NewHead> replace_head(const Graph& network, ValueId output, std::int64_t classes, std::uint64_t seed) {
    return HeadMaker(network, classes, seed).make(output);
}

}  // namespace viridian::train
