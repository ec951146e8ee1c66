#include "viridian/train/weights/parts.hpp"

#include <algorithm>

namespace viridian::train {
namespace {

namespace op = graph::op;
using graph::Dims;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

bool is_recurrent(const Node& node) {
    return node.op == op::LSTM || node.op == op::GRU || node.op == op::RNN;
}

bool is_product(const Node& node) {
    return node.op == op::MatMul || node.op == op::Gemm || node.op == op::Conv ||
           node.op == op::ConvTranspose;
}

class PartFinder {
  public:
    PartFinder(const Graph& graph, const graph::Uses& uses) : graph_(graph), uses_(uses) {}

    [[nodiscard]] std::optional<FoundPart> find(ValueId value) const {
        for (const NodeId id : uses_.readers(value))
            if (auto part = read_by(graph_.node(id), value)) return part;
        return std::nullopt;
    }

  private:
    // None if some of them are not known.
    [[nodiscard]] Dims dims(ValueId value) const {
        const graph::TensorType& type = graph_.value(value).type;
        return type.known() ? type.dims() : Dims();
    }

    [[nodiscard]] FoundPart part(Part part, ValueId value, std::int64_t fan_in = 0) const {
        const graph::TensorType& type = graph_.value(value).type;
        return {{.part = part, .type = type.element, .dims = type.dims(), .fan_in = fan_in}, 0};
    }

    // How many inputs each output of a product adds up.
    [[nodiscard]] std::optional<std::int64_t> fan_in(const Node& product) const {
        const Dims dims = this->dims(product.input(1));
        if (dims.size() < 2) return std::nullopt;
        if (product.op == op::Gemm) return dims[product.integer("transB", 0) != 0 ? 1 : 0];
        if (product.op == op::MatMul) return dims[dims.size() - 2];
        const auto fans = fans_of(Part::convolution, dims);
        return fans ? std::optional(fans->in) : std::nullopt;
    }

    [[nodiscard]] std::optional<FoundPart> read_by(const Node& node, ValueId value) const {
        const auto place =
            static_cast<std::size_t>(std::ranges::find(node.inputs, value) - node.inputs.begin());
        if (is_product(node)) return of_product(node, value, place);
        if (node.op == op::Gather && place == 0) return part(Part::embedding, value);
        if (node.op == op::BatchNormalization && place >= 1 && place <= 4)
            return part(place == 1 || place == 4 ? Part::scale : Part::shift, value);
        if ((node.op == op::InstanceNormalization || node.op == op::GroupNormalization ||
             node.op == op::LayerNormalization || node.op == op::RMSNormalization) &&
            (place == 1 || place == 2))
            return part(place == 1 ? Part::scale : Part::shift, value);
        if (is_recurrent(node) && place >= 1 && place <= 3) return of_recurrent(node, value, place);
        if (place == 0 && (node.op == op::Identity || node.op == op::Cast || node.op == op::CastLike))
            return behind(node, value);
        if (node.op == op::Transpose && dims(value).size() == 2) return behind_transpose(node, value);
        if (node.op == op::Add) return of_sum(node, value, place);
        return std::nullopt;
    }

    [[nodiscard]] std::optional<FoundPart> of_product(const Node& node, ValueId value,
                                                      std::size_t place) const {
        if (place == 2) {
            const auto inputs = fan_in(node);
            return inputs ? std::optional(part(Part::bias, value, *inputs)) : std::nullopt;
        }
        if (node.op == op::Conv || node.op == op::ConvTranspose) {
            if (place != 1) return std::nullopt;
            return part(node.op == op::Conv ? Part::convolution : Part::transposed_convolution, value);
        }
        bool inputs_first = place == 1;  // [in, out]
        if (node.op == op::Gemm && node.integer(place == 1 ? "transB" : "transA", 0) != 0)
            inputs_first = !inputs_first;
        if (!inputs_first && dims(value).size() != 2) return std::nullopt;
        return part(inputs_first ? Part::matrix : Part::linear, value);
    }

    // W [directions, gates × hidden, in], R [directions, gates × hidden, hidden], B [directions, ...].
    [[nodiscard]] std::optional<FoundPart> of_recurrent(const Node& node, ValueId value,
                                                        std::size_t place) const {
        const Dims recurrence = dims(node.input(2));
        if (recurrence.size() != 3) return std::nullopt;
        FoundPart found = part(place == 3 ? Part::bias : Part::linear, value, recurrence[2]);
        found.hidden = recurrence[2];
        if (place != 3) {
            const Dims own = dims(value);
            found.shape.dims = {own[0] * own[1], own[2]};
        }
        return found;
    }

    // A constant that is added to a product is its bias.
    [[nodiscard]] std::optional<FoundPart> of_sum(const Node& node, ValueId value, std::size_t place) const {
        const Node* product = graph_.producer(node.input(1 - place));
        if (product == nullptr || !is_product(*product)) return std::nullopt;
        const auto inputs = fan_in(*product);
        const Dims own = dims(value);
        const auto wide = std::ranges::count_if(own, [](std::int64_t extent) { return extent != 1; });
        return inputs && wide <= 1 ? std::optional(part(Part::bias, value, *inputs)) : std::nullopt;
    }

    [[nodiscard]] std::optional<FoundPart> behind(const Node& node, ValueId value) const {
        std::optional<FoundPart> found = find(node.output(0));
        if (found) found->shape.type = graph_.value(value).type.element;
        return found;
    }

    [[nodiscard]] std::optional<FoundPart> behind_transpose(const Node& node, ValueId value) const {
        std::optional<FoundPart> found = behind(node, value);
        if (!found || found->hidden != 0) return std::nullopt;
        found->shape.dims = dims(value);
        if (found->shape.part == Part::matrix)
            found->shape.part = Part::linear;
        else if (found->shape.part == Part::linear)
            found->shape.part = Part::matrix;
        return found;
    }

    const Graph& graph_;
    const graph::Uses& uses_;
};

}  // namespace

std::optional<FoundPart> part_of(const Graph& network, const graph::Uses& uses, ValueId constant) {
    return PartFinder(network, uses).find(constant);
}

Result<Redrawn> redraw(const Graph& network, std::span<const std::string> names, const Drawing& drawing,
                       std::uint64_t seed) {
    Redrawn drawn;
    const graph::Uses readers = uses(network);
    std::map<std::string_view, ValueId> constants;
    for (std::size_t i = 0; i < network.value_count(); ++i)
        if (const auto id = static_cast<ValueId>(i); network.constant(id) != nullptr)
            constants[network.value(id).name] = id;
    for (const std::string& name : names) {
        const auto constant = constants.find(name);
        if (constant == constants.end())
            return fail(ErrorCode::missing_entry, "give the network that is trained",
                        "the network has no parameter `{}`", name);
        std::optional<FoundPart> found = part_of(network, readers, constant->second);
        if (!found) {
            drawn.kept.push_back(name);
            continue;
        }
        if (found->hidden > 0 && drawing.kind == Drawing::Kind::pytorch) {
            found->shape.part = Part::bias;
            found->shape.fan_in = found->hidden;
        }
        VIRIDIAN_TRY(const Tensor tensor, draw(drawing, seed, name, found->shape));
        drawn.weights[name] = tensor.reshaped(network.value(constant->second).type.dims());
    }
    return drawn;
}

}  // namespace viridian::train
