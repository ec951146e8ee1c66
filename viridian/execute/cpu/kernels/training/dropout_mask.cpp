// DropoutMask with vectors of counters. The bits are those of the reference kernel on any number of threads.
#include "viridian/graph/operators/training/dropout_mask.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/training/philox.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using graph::ValueId;

constexpr std::string_view dropout_mask_family_name = "simd:dropout";
constexpr std::int64_t mask_piece = 4096;  // elements that one thread draws at a time

// Where a scalar input of the node lies: among the region's inputs, or a constant.
struct MaskScalar {
    std::optional<std::size_t> input;
    std::int64_t integer = 0;
    double real = 0;
    ElementType type = ElementType::i64;

    [[nodiscard]] std::int64_t whole(const Pointers& pointers) const {
        return input ? *reinterpret_cast<const std::int64_t*>(pointers.inputs[*input]) : integer;
    }
    [[nodiscard]] double number(const Pointers& pointers) const {
        if (!input) return real;
        const std::byte* at = pointers.inputs[*input];
        return type == ElementType::f64 ? *reinterpret_cast<const double*>(at)
                                        : static_cast<double>(*reinterpret_cast<const float*>(at));
    }
};

struct MaskWork {
    MaskScalar seed, step, first_sample, ratio;
    std::int64_t stream = 0, samples = 1, elements = 1;  // elements of one sample
};

std::optional<MaskWork> mask_work(const Task& task) {
    const graph::Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.op != graph::op::DropoutMask || node.inputs.size() != 5 ||
        !task.type(node.outputs[0]).known())
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

std::vector<plan::Choice> offers_dropout_mask(const Task& task) {
    if (!mask_work(task)) return {};
    return {task.plain_choice(std::string(dropout_mask_family_name))};
}

Result<Kernel> prepare_dropout_mask(const Task& task, const plan::Choice& choice) {
    const auto work = mask_work(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    kernel.run = [w = *work, threads = task.context.threads](const Pointers& pointers) {
        const auto low = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
        const std::int64_t seed = w.seed.whole(pointers), first_sample = w.first_sample.whole(pointers);
        const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed) >> 32U);
        const PhiloxKey key = {low(seed), low(w.stream)};
        const std::uint32_t step = low(w.step.whole(pointers));
        const std::uint64_t least = graph::least_kept_word(w.ratio.number(pointers));
        auto* const keep = reinterpret_cast<std::uint8_t*>(pointers.outputs[0]);
        const std::int64_t pieces = (w.elements + mask_piece - 1) / mask_piece;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t p = first; p < last; ++p) {
                const std::int64_t sample = p / pieces, at = p % pieces * mask_piece;
                simd::draw_words(key, {0, low(first_sample) + low(sample), step, high}, least, low(at / 4),
                                 std::min(mask_piece, w.elements - at), keep + sample * w.elements + at);
            }
        };
        if (w.samples * w.elements < 2 * mask_piece) return work_on(0, w.samples * pieces);
        in_shares(threads, w.samples * pieces, work_on);
    };
    return kernel;
}

}  // namespace

Family dropout_mask_family() { return {dropout_mask_family_name, offers_dropout_mask, prepare_dropout_mask}; }

}  // namespace viridian::execute::cpu
