#include "viridian/graph/evaluate.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

std::int64_t wrapped(ElementType type, std::int64_t value) {
    switch (type) {
        case ElementType::i32:
            return static_cast<std::int32_t>(value);
        case ElementType::i16:
            return static_cast<std::int16_t>(value);
        case ElementType::i8:
            return static_cast<std::int8_t>(value);
        case ElementType::u32:
            return static_cast<std::uint32_t>(value);
        case ElementType::u16:
            return static_cast<std::uint16_t>(value);
        case ElementType::u8:
            return static_cast<std::uint8_t>(value);
        case ElementType::boolean:
            return value != 0 ? 1 : 0;
        default:
            return value;
    }
}

template <class Scalar>
Scalar rounded(ElementType type, Scalar value) {
    if constexpr (std::is_same_v<Scalar, PrimeField>) {
        return value;
    } else {
        switch (type) {
            case ElementType::f32:
                return static_cast<Scalar>(static_cast<float>(value));
            case ElementType::f16:
                return static_cast<Scalar>(from_half(to_half(static_cast<float>(value))));
            case ElementType::bf16:
                return static_cast<Scalar>(from_bfloat16(to_bfloat16(static_cast<float>(value))));
            default:
                return value;
        }
    }
}

template <class Scalar>
void round_to_type(Array<Scalar>& array, Rounding rounding) {
    const bool already = std::is_same_v<Scalar, float> && array.type == ElementType::f32;
    if (rounding == Rounding::declared && !already)
        for (Scalar& value : array.real) value = rounded(array.type, value);
    if (array.type != ElementType::i64 && array.type != ElementType::u64)
        for (std::int64_t& value : array.integer) value = wrapped(array.type, value);
}

template <class Scalar>
Result<void> (*kernel_of(const Reference& reference))(Call<Scalar>&) {
    if constexpr (std::is_same_v<Scalar, float>)
        return reference.f32;
    else if constexpr (std::is_same_v<Scalar, double>)
        return reference.f64;
    else
        return reference.field;
}

// A node with one body and no row means its body.
template <class Scalar>
Result<void> run_node(Call<Scalar>& call) {
    const OperatorRow* row = find_operator(call.node);
    const auto kernel = row == nullptr ? nullptr : kernel_of<Scalar>(row->reference);
    if (kernel != nullptr) {  // kernels read what their row requires without asking
        const bool any = row->inputs.most == unbounded;
        const std::size_t required =
            any ? std::max<std::size_t>(1, call.inputs.size()) : static_cast<std::size_t>(row->inputs.least);
        for (std::size_t i = 0; i < required; ++i)
            if (call.input(i) == nullptr)
                return fail(ErrorCode::malformed, "export the model again", "its input {} is missing", i);
    }
    if (kernel != nullptr) return kernel(call);
    if (call.node.bodies.size() != 1)
        return fail(ErrorCode::unsupported, "replace the operator, or report it",
                    "operator `{}` of node `{}` has no reference kernel", call.node.op, call.node.name);
    std::vector<Array<Scalar>> arguments;
    for (const Array<Scalar>* input : call.inputs)
        arguments.push_back(input == nullptr ? Array<Scalar>() : *input);
    VIRIDIAN_TRY(call.outputs, call.run_body(0, std::move(arguments)));
    return {};
}

// Nonsense may ask for more than there is; exceptions do not cross a room.
template <class Scalar>
Result<void> guarded(Call<Scalar>& call) {
    try {
        VIRIDIAN_TRY(run_node(call));
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "check the model's shapes", "memory does not hold its result");
    } catch (const std::length_error&) {
        return fail(ErrorCode::limit_exceeded, "check the model's shapes", "its result is too large");
    }
    if (call.outputs.size() < call.node.outputs.size())
        return fail(ErrorCode::malformed, "export the model again", "its body gives {} of {} values",
                    call.outputs.size(), call.node.outputs.size());
    return {};
}

Result<void> check_input(const Graph& graph, ValueId id, ElementType type, const Dims& dims) {
    const Value& value = graph.value(id);
    bool fits = type == value.type.element;
    if (value.type.shape) {
        fits = fits && value.type.shape->size() == dims.size();
        for (std::size_t i = 0; fits && i < dims.size(); ++i) {
            const Dimension& dimension = (*value.type.shape)[i];
            fits = !dimension.known() || dimension.value() == dims[i];
        }
    }
    if (!fits)
        return fail(ErrorCode::mismatch, "give an input of the model's type",
                    "input `{}` expects {}, it was given {}", value.name, text(value.type),
                    text({type, shape_of(dims)}));
    return {};
}

bool uses_double(const Graph& graph) {
    for (std::size_t i = 0; i < graph.value_count(); ++i)
        if (graph.value(static_cast<ValueId>(i)).type.element == ElementType::f64) return true;
    for (const NodeId id : graph.nodes())
        for (const auto& body : graph.node(id).bodies)
            if (uses_double(*body)) return true;
    return false;
}

// Whose values memory_need() counted before the run.
enum class Level { whole_model, body };

// Tells the budget which values live that nobody counted before the run: those of bodies, and of the model
// those whose shape is data.
template <class Scalar>
class Uncounted {
  public:
    Uncounted(const Graph& graph, Level level, MemoryBudget& budget)
        : graph_(graph), level_(level), budget_(budget), held_(graph.value_count()) {}
    [[nodiscard]] bool holds(ValueId id) const {
        return level_ == Level::body || !graph_.value(id).type.known();
    }
    // The elements of the node's largest output, if all its outputs were counted, and 0 otherwise.
    [[nodiscard]] std::int64_t foreseen(const Node& node) const {
        std::int64_t most = 0;
        for (const ValueId id : node.outputs) {
            if (id == ValueId::none) continue;
            if (holds(id)) return 0;
            if (const auto count = element_count(graph_.value(id).type.dims()); count.ok())
                most = std::max(most, *count);
        }
        return most;
    }
    void made(ValueId id, const Array<Scalar>& array) {
        if (!holds(id)) return;
        held_[index(id)] = array.bytes();
        budget_.hold(array.bytes());
    }
    void gone(ValueId id) { budget_.release(std::exchange(held_[index(id)], Bytes())); }
    void all_gone() {
        for (const Bytes bytes : held_) budget_.release(bytes);
    }

  private:
    const Graph& graph_;
    Level level_;
    MemoryBudget& budget_;
    std::vector<Bytes> held_;
};

template <class Scalar>
Result<std::vector<Array<Scalar>>> evaluate_at(Level level, const Graph& graph,
                                               std::vector<Array<Scalar>> inputs, Rounding rounding,
                                               MemoryBudget& budget);

template <class Scalar>
Result<std::vector<Tensor>> evaluate_tensors(const Graph& graph, const std::vector<Tensor>& inputs,
                                             std::optional<Bytes> memory) {
    try {
        std::vector<Array<Scalar>> arrays;
        for (const Tensor& input : inputs) arrays.push_back(array_of<Scalar>(input));
        VIRIDIAN_TRY(const std::vector<Array<Scalar>> outputs,
                     evaluate(graph, std::move(arrays), Rounding::declared, memory));
        std::vector<Tensor> tensors;
        for (const Array<Scalar>& output : outputs) tensors.push_back(tensor_of(output));
        return tensors;
    } catch (const std::bad_alloc&) {  // inputs, constants or outputs; nodes say which of them it was
        return fail(ErrorCode::out_of_memory, "choose smaller sizes with --dim or --batch",
                    "memory does not hold the values of the reference kernels");
    }
}

template <class Scalar>
Result<std::vector<Array<Scalar>>> evaluate_at(Level level, const Graph& graph,
                                               std::vector<Array<Scalar>> inputs, Rounding rounding,
                                               MemoryBudget& budget) {
    if (inputs.size() != graph.inputs().size() + graph.states().size())
        return fail(ErrorCode::mismatch, "give one tensor per input",
                    "the graph has {} inputs, {} were given", graph.inputs().size() + graph.states().size(),
                    inputs.size());
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    std::vector<Array<Scalar>> values(graph.value_count());
    const Uses readers = uses(graph);
    std::vector<std::size_t> left(graph.value_count());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = readers.count(static_cast<ValueId>(i));

    Uncounted<Scalar> uncounted(graph, level, budget);
    const auto set = [&](ValueId id, Array<Scalar> array) {
        uncounted.made(id, array);
        values[index(id)] = std::move(array);
    };
    std::size_t next = 0;
    for (const ValueId id : graph.inputs()) {
        VIRIDIAN_TRY(check_input(graph, id, inputs[next].type, inputs[next].dims));
        set(id, std::move(inputs[next++]));
    }
    for (const State& state : graph.states()) set(state.before, std::move(inputs[next++]));

    const auto load = [&](ValueId id) {  // constants become arrays when first read
        if (const Tensor* constant = graph.constant(id);
            constant && values[index(id)].type == ElementType::undefined)
            set(id, array_of<Scalar>(*constant));
    };
    for (const NodeId id : order) {
        const Node& node = graph.node(id);
        Call<Scalar> call{node,     {},      std::vector<Array<Scalar>>(node.outputs.size()),
                          rounding, &budget, uncounted.foreseen(node)};
        for (const ValueId input : node.inputs) {
            if (input != ValueId::none) load(input);
            call.inputs.push_back(input == ValueId::none ? nullptr : &values[index(input)]);
        }
        if (auto done = guarded(call); !done.ok())
            return std::move(done).error().within(fmt::format("node `{}` ({})", node.name, node.op));
        for (const ValueId input : node.inputs)
            if (input != ValueId::none && --left[index(input)] == 0) {
                values[index(input)] = {};
                uncounted.gone(input);
            }
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] == ValueId::none || left[index(node.outputs[i])] == 0) continue;
            round_to_type(call.outputs[i], rounding);
            set(node.outputs[i], std::move(call.outputs[i]));
        }
    }
    std::vector<Array<Scalar>> results;
    const auto collect = [&](ValueId id) {
        if (id == ValueId::none) return results.emplace_back();
        load(id);
        return results.emplace_back(values[index(id)]);
    };
    for (const ValueId output : graph.outputs()) collect(output);
    for (const State& state : graph.states()) collect(state.after);
    uncounted.all_gone();
    return results;
}

}  // namespace

template <class Scalar>
Result<std::vector<Array<Scalar>>> evaluate(const Graph& graph, std::vector<Array<Scalar>> inputs,
                                            Rounding rounding, std::optional<Bytes> memory) {
    MemoryBudget budget(memory);
    return evaluate_at(Level::whole_model, graph, std::move(inputs), rounding, budget);
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, const std::vector<Tensor>& inputs,
                                     std::optional<Bytes> memory) {
    return uses_double(graph) ? evaluate_tensors<double>(graph, inputs, memory)
                              : evaluate_tensors<float>(graph, inputs, memory);
}

template <class Scalar>
Result<std::vector<Array<Scalar>>> Call<Scalar>::run_body(std::size_t body,
                                                          std::vector<Array<Scalar>> arguments) const {
    invariant(budget != nullptr, "a node with bodies is evaluated within a graph");
    return evaluate_at(Level::body, *node.bodies[body], std::move(arguments), rounding, *budget);
}

template <class Scalar>
Array<Scalar> array_of(const Tensor& tensor) {
    Array<Scalar> array(tensor.type(), tensor.dims());
    if constexpr (!std::is_same_v<Scalar, PrimeField>)
        if (tensor.type() == ElementType::f32) {  // weights: worth a loop of their own
            std::ranges::copy(tensor.values<float>(), array.real.begin());
            return array;
        }
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (!array.floating())
            array.integer[at] = tensor.integer(i);
        else if constexpr (std::is_same_v<Scalar, PrimeField>)
            array.real[at] = PrimeField(to_integer(tensor.number(i)));
        else
            array.real[at] = static_cast<Scalar>(tensor.number(i));
    }
    return array;
}

template <class Scalar>
Tensor tensor_of(const Array<Scalar>& array) {
    Tensor tensor(array.type, array.dims);
    const auto store = [&](auto example, auto convert) {
        auto out = tensor.mutable_values<decltype(example)>();
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = convert(i);
    };
    const auto real = [&](std::size_t i) {
        if constexpr (std::is_same_v<Scalar, PrimeField>)
            return static_cast<double>(array.real[i].value());
        else
            return static_cast<double>(array.real[i]);
    };
    switch (array.type) {
        case ElementType::f64:
            store(double{}, real);
            break;
        case ElementType::f32:
            store(float{}, [&](std::size_t i) { return static_cast<float>(real(i)); });
            break;
        case ElementType::f16:
            store(std::uint16_t{}, [&](std::size_t i) { return to_half(static_cast<float>(real(i))); });
            break;
        case ElementType::bf16:
            store(std::uint16_t{}, [&](std::size_t i) { return to_bfloat16(static_cast<float>(real(i))); });
            break;
        case ElementType::i64:
        case ElementType::u64:
            store(std::int64_t{}, [&](std::size_t i) { return array.integer[i]; });
            break;
        case ElementType::i32:
        case ElementType::u32:
            store(std::int32_t{}, [&](std::size_t i) { return static_cast<std::int32_t>(array.integer[i]); });
            break;
        case ElementType::i16:
        case ElementType::u16:
            store(std::int16_t{}, [&](std::size_t i) { return static_cast<std::int16_t>(array.integer[i]); });
            break;
        case ElementType::i8:
        case ElementType::u8:
        case ElementType::boolean:
            store(std::int8_t{}, [&](std::size_t i) { return static_cast<std::int8_t>(array.integer[i]); });
            break;
        case ElementType::undefined:
            break;
    }
    return tensor;
}

template Result<std::vector<Array<float>>> evaluate(const Graph&, std::vector<Array<float>>, Rounding,
                                                    std::optional<Bytes>);
template Result<std::vector<Array<double>>> evaluate(const Graph&, std::vector<Array<double>>, Rounding,
                                                     std::optional<Bytes>);
template Result<std::vector<Array<PrimeField>>> evaluate(const Graph&, std::vector<Array<PrimeField>>,
                                                         Rounding, std::optional<Bytes>);
template struct Call<float>;
template struct Call<double>;
template struct Call<PrimeField>;
template Array<float> array_of(const Tensor&);
template Array<double> array_of(const Tensor&);
template Array<PrimeField> array_of(const Tensor&);
template Tensor tensor_of(const Array<float>&);
template Tensor tensor_of(const Array<double>&);
template Tensor tensor_of(const Array<PrimeField>&);

}  // namespace viridian::graph
