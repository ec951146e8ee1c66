#include "viridian/graph/reference/prepare.hpp"

#include "viridian/graph/evaluate.hpp"

namespace viridian::graph {
template <class Scalar>
Result<void> prepare(Call<Scalar>& call) {
    std::vector<TensorType> types;
    std::vector<Tensor> small(call.inputs.size());  // the inputs that shape rules may read
    std::vector<const Tensor*> constants;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const Array<Scalar>* input = call.inputs[i];
        types.push_back(input == nullptr ? TensorType() : TensorType{input->type, shape_of(input->dims)});
        const bool readable = input != nullptr && input->rank() <= 1 && input->count() <= 1024;
        if (readable) small[i] = tensor_of(*input);
        constants.push_back(readable ? &small[i] : nullptr);
    }
    const OperatorRow* row = find_operator(call.node);
    invariant(row != nullptr && row->infer != nullptr, "a prepared operator has a row with a shape rule");
    if (call.inputs.size() < static_cast<std::size_t>(row->inputs.least))
        return fail(ErrorCode::malformed, "export the model again", "node `{}` ({}) has {} inputs",
                    call.node.name, call.node.op, call.inputs.size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(row->inputs.least); ++i)
        if (call.inputs[i] == nullptr && row->inputs.most != unbounded)
            return fail(ErrorCode::malformed, "export the model again", "node `{}` ({}) lacks its input {}",
                        call.node.name, call.node.op, i);
    Inference inference(call.node, std::move(types), std::move(constants));
    VIRIDIAN_TRY(row->infer(inference));
    for (std::size_t i = 0; i < call.outputs.size(); ++i)
        if (const TensorType& type = inference.outputs()[i];
            type.element != ElementType::undefined && type.known()) {
            VIRIDIAN_TRY(call.outputs[i], call.make(type.element, type.dims()));
        }
    return {};
}

template Result<void> prepare(Call<float>&);
template Result<void> prepare(Call<double>&);
template Result<void> prepare(Call<PrimeField>&);

}  // namespace viridian::graph
