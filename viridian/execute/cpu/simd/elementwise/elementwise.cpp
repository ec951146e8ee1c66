// Chains of element-wise nodes in one pass over any dense layout.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/operands.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;

constexpr std::string_view family = "simd:elementwise";
constexpr std::int64_t chunk = 1024;

struct Elementwise {
    std::size_t source = 0;  // region input the chain starts from
    std::vector<EpilogueStep> steps;
    Dims dims;
};

// The whole region as a chain from one of its first node's inputs, of the result's shape.
std::optional<Elementwise> elementwise_of(const Task& task) {
    const graph::Node& head = task.node();
    for (const ValueId start : head.inputs) {
        if (start == ValueId::none) continue;
        const auto source = task.input_index(start);
        if (!source) continue;
        auto steps = read_steps(task, 0, start);
        if (!steps) continue;
        const Dims dims = task.dims(start);
        if (std::ranges::count(dims, 0) > 0) return std::nullopt;
        // An operand that is the start itself would have two formats.
        if (std::ranges::any_of(*steps, [&](const EpilogueStep& s) {
                return s.operand == start && task.dims(start) != dims;
            }))
            continue;
        return Elementwise{*source, *std::move(steps), dims};
    }
    return std::nullopt;
}

std::vector<plan::Layout> layouts(std::size_t rank) {
    std::vector<plan::Layout> list = {plan::plain(rank)};
    if (rank > 2)
        list.insert(list.end(), {plan::channels_last(rank), plan::channels_blocked(rank, 16),
                                 plan::channels_blocked(rank, 8)});
    if (rank == 4) list.push_back(plan::permuted({0, 2, 1, 3}));
    return list;
}

bool has_padding(const plan::Layout& layout, const Dims& dims) {
    return std::ranges::any_of(layout.blocks,
                               [&](const auto& block) { return dims[block.dimension] % block.size != 0; });
}

std::vector<plan::Choice> offers(const Task& task) {
    const auto work = elementwise_of(task);
    if (!work) return {};
    std::vector<plan::Choice> choices;
    for (const plan::Layout& layout : layouts(work->dims.size())) {
        std::vector<Packed> constants;
        const auto chain = simd::Chain::make(task, work->steps, work->dims, layout, constants);
        if (!chain || (has_padding(layout, work->dims) && !chain->keeps_padding())) continue;
        plan::Choice choice = task.plain_choice(std::string(family));
        choice.variant.keeps_nan = true;
        for (std::size_t i = 0; i < choice.inputs.size(); ++i)
            if (task.dims(task.region.inputs[i]) == work->dims) choice.inputs[i].layout = layout;
        choice.outputs[0].layout = layout;
        for (std::size_t i = 0; i < choice.inputs.size(); ++i)
            if (task.region.dies[i] && task.dims(task.region.inputs[i]) == work->dims) {
                plan::Choice in_place = choice;
                in_place.aliasing = plan::Aliasing::overwrite;
                in_place.overwritten = i;
                choices.push_back(std::move(in_place));
                break;
            }
        choices.push_back(std::move(choice));
    }
    offer_widened(
        task, [&](std::size_t i) { return task.dims(task.region.inputs[i]) == work->dims; }, choices);
    return choices;
}

Result<Kernel> prepare(const Task& task, const plan::Choice& choice) {
    const auto work = elementwise_of(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    const plan::Layout& layout = choice.outputs[0].layout;
    auto chain = simd::Chain::make(task, work->steps, work->dims, layout, kernel.constants, &choice);
    if (!chain) return unknown_kernel(choice);
    const std::int64_t count = plan::padded_elements(layout, work->dims);
    kernel.run = [chain = *std::move(chain), count, source = work->source,
                  reads_bf16 = in_bf16(choice.inputs[work->source]), writes_bf16 = in_bf16(choice.outputs[0]),
                  threads = task.context.threads](const Pointers& pointers) {
        const std::byte* from = pointers.inputs[source];
        std::byte* to = pointers.outputs[0];
        const std::int64_t chunks = (count + chunk - 1) / chunk;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            alignas(64) float scratch[chunk];
            // An operand may lie where the result goes: each chunk is made apart, then stored.
            alignas(64) float made[chunk];
            for (std::int64_t c = first; c < last; ++c) {
                const std::int64_t at = c * chunk;
                const std::int64_t n = std::min(chunk, count - at);
                const float* read = reinterpret_cast<const float*>(from) + at;
                if (reads_bf16) {
                    simd::widen(reinterpret_cast<const std::uint16_t*>(from) + at, made, n);
                    read = made;
                }
                chain.run(pointers, read, made, at, n, scratch);
                if (writes_bf16)
                    simd::narrow(made, reinterpret_cast<std::uint16_t*>(to) + at, n);
                else
                    std::copy_n(made, n, reinterpret_cast<float*>(to) + at);
            }
        };
        if (chunks < 8) return work_on(0, chunks);
        in_shares(threads, chunks, work_on);
    };
    return kernel;
}

}  // namespace

Family simd_elementwise_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
