#include "viridian/execute/cpu/kernels/training/mask_work.hpp"

#include "viridian/execute/cpu/simd/training/philox.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::execute::cpu {

using graph::ElementType;
using graph::ValueId;

std::int64_t MaskScalar::whole(const Pointers& pointers) const {
    return input ? *reinterpret_cast<const std::int64_t*>(pointers.inputs[*input]) : integer;
}

double MaskScalar::number(const Pointers& pointers) const {
    if (!input) return real;
    const std::byte* at = pointers.inputs[*input];
    return type == ElementType::f64 ? *reinterpret_cast<const double*>(at)
                                    : static_cast<double>(*reinterpret_cast<const float*>(at));
}

std::optional<MaskWork> mask_work(const Task& task, const graph::Node& node) {
    if (node.op != graph::op::DropoutMask || node.inputs.size() != 5 || !task.type(node.outputs[0]).known())
        return std::nullopt;
    MaskWork work;
    MaskScalar* const scalars[] = {&work.seed, &work.step, &work.first_sample, &work.ratio};
    for (std::size_t i = 0; i < std::size(scalars); ++i) {
        const ValueId id = node.inputs[i];
        if (id == ValueId::none || !task.type(id).known()) return std::nullopt;
        scalars[i]->type = task.type(id).element;
        scalars[i]->input = task.input_index(id);
        if (scalars[i]->input) continue;
        const graph::Tensor* constant = task.graph.constant(id);
        if (constant == nullptr || constant->count() != 1) return std::nullopt;
        scalars[i]->real = constant->number(0);
        if (i < 3) scalars[i]->integer = constant->integer(0);
    }
    const graph::Dims dims = task.dims(node.outputs[0]);
    work.stream = node.integer("stream", 0);
    work.samples = dims.empty() ? 1 : dims[0];
    for (std::size_t axis = 1; axis < dims.size(); ++axis) work.elements *= dims[axis];
    return work;
}

Draw MaskWork::of(const Pointers& pointers) const {
    const auto low = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
    const std::int64_t drawn_with = seed.whole(pointers);
    const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(drawn_with) >> 32U);
    return {{low(drawn_with), low(stream)},
            {0, low(first_sample.whole(pointers)), low(step.whole(pointers)), high},
            graph::least_kept_word(ratio.number(pointers))};
}

void Draw::draw(std::int64_t sample, std::int64_t at, std::int64_t n, std::uint8_t* keep) const {
    PhiloxCounter own = counter;
    own[1] += static_cast<std::uint32_t>(sample);
    simd::draw_words(key, own, least, static_cast<std::uint32_t>(at / 4), n, keep);
}

}  // namespace viridian::execute::cpu
