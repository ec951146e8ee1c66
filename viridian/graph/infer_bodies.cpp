#include "viridian/graph/infer_bodies.hpp"

#include "viridian/graph/infer.hpp"
#include "viridian/graph/types_of.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_body(std::shared_ptr<const Graph>& body, const std::vector<TensorType>& inputs) {
    if (body->inputs().size() != inputs.size())
        return fail(ErrorCode::mismatch, "export the model again", "a body takes {} values and is given {}",
                    body->inputs().size(), inputs.size());
    Graph typed = *body;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ValueId id = typed.inputs()[i];
        const TensorType type =
            inputs[i].element == ElementType::undefined ? typed.value(id).type : inputs[i];
        if (type != typed.value(id).type) typed.set_type(id, type);
    }
    VIRIDIAN_TRY(infer_types(typed));
    body = std::make_shared<const Graph>(std::move(typed));
    return {};
}

// The branch that is not taken need not fit the shapes outside: then only their element types count.
Result<void> infer_branch(std::shared_ptr<const Graph>& body, std::vector<TensorType> inputs) {
    auto done = infer_body(body, inputs);
    if (done.ok() || done.error().code != ErrorCode::mismatch || body->inputs().size() != inputs.size())
        return done;
    for (TensorType& type : inputs) type.shape.reset();
    return infer_body(body, inputs);
}

std::vector<TensorType> tail(const std::vector<TensorType>& types, std::size_t start) {
    return {types.begin() + static_cast<std::ptrdiff_t>(std::min(start, types.size())), types.end()};
}

// Body: (iteration, condition, states…, captures…) → (condition, states…, scan outputs…). A state that grows
// is known only in what all iterations share.
Result<void> infer_loop(Node& node, const std::vector<TensorType>& inputs) {
    std::vector<TensorType> types = {{ElementType::i64, Shape{}}, {ElementType::boolean, Shape{}}};
    for (const TensorType& type : tail(inputs, 2)) types.push_back(type);
    const auto captures = static_cast<std::size_t>(std::max<std::int64_t>(node.integer("captures", 0), 0));
    for (;;) {
        VIRIDIAN_TRY(infer_body(node.bodies[0], types));
        const std::vector<TensorType> outputs = output_types(*node.bodies[0]);
        bool settled = true;
        for (std::size_t i = 2; i + captures < types.size() && i - 1 < outputs.size(); ++i) {
            const TensorType both = join(types[i], outputs[i - 1]);
            settled = settled && both == types[i];
            types[i] = both;
        }
        if (settled) return {};
    }
}

// Body: (states…, one slice of each scan input, captures…) → (states…, one slice of each scan output).
Result<void> infer_scan(Node& node, const std::vector<TensorType>& inputs) {
    std::vector<TensorType> types = inputs;
    const auto captures = static_cast<std::size_t>(std::max<std::int64_t>(node.integer("captures", 0), 0));
    const auto scanned =
        static_cast<std::size_t>(std::max<std::int64_t>(node.integer("num_scan_inputs", 0), 0));
    if (captures + scanned > inputs.size())
        return fail(ErrorCode::mismatch, "export the model again", "Scan of {} inputs is given {}", scanned,
                    inputs.size());
    const std::size_t first = inputs.size() - captures - scanned;
    const Dims axes = node.get("scan_input_axes", Dims(scanned, 0));
    for (std::size_t i = 0; i < scanned; ++i)
        if (auto& shape = types[first + i].shape) {
            VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(i < axes.size() ? axes[i] : 0,
                                                                 static_cast<std::int64_t>(shape->size())));
            shape->erase(shape->begin() + axis);
        }
    return infer_body(node.bodies[0], types);
}

}  // namespace

TensorType join(const TensorType& a, const TensorType& b) {
    TensorType both = a;
    if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
        both.shape.reset();
        return both;
    }
    for (std::size_t i = 0; i < a.shape->size(); ++i)
        if ((*a.shape)[i] != (*b.shape)[i]) (*both.shape)[i] = Dimension();
    return both;
}

TensorType meet(const TensorType& a, const TensorType& b) {
    TensorType either = a;
    if (a.element == ElementType::undefined) either.element = b.element;
    if (!a.shape) either.shape = b.shape;
    if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return either;
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
        Dimension& dimension = (*either.shape)[i];
        if (!dimension.known() && ((*b.shape)[i].known() || dimension.symbol().empty()))
            dimension = (*b.shape)[i];
    }
    return either;
}

std::vector<TensorType> output_types(const Graph& body) { return types_of(body, body.outputs()); }

Result<Node> infer_bodies(Node node, const std::vector<TensorType>& inputs) {
    if (node.op == op::Loop && node.bodies.size() == 1) {
        VIRIDIAN_TRY(infer_loop(node, inputs));
    } else if (node.op == op::Scan && node.bodies.size() == 1) {
        VIRIDIAN_TRY(infer_scan(node, inputs));
    } else if (node.op == op::If) {
        for (auto& body : node.bodies) VIRIDIAN_TRY(infer_branch(body, tail(inputs, 1)));
    } else {
        for (auto& body : node.bodies) VIRIDIAN_TRY(infer_body(body, inputs));
    }
    return node;
}

}  // namespace viridian::graph
