#include "viridian/execute/cpu/simd/elementwise/chain.hpp"

#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"

namespace viridian::execute::cpu::simd {
using graph::Dims;

std::optional<Chain> Chain::make(const Task& task, const std::vector<EpilogueStep>& steps, const Dims& dims,
                                 const plan::Layout& layout, std::vector<Packed>& constants,
                                 const plan::Choice* choice) {
    Chain chain;
    for (const EpilogueStep& step : steps) {
        Link link{step, Link::From::none, 0, false, false, {}};
        if (is_binary(step.function)) {
            if (step.function == Function::pow) return std::nullopt;
            Dims own = task.dims(step.operand);
            const auto input = task.input_index(step.operand);
            link.whole = input && own == dims;
            if (input) {
                link.from = Link::From::input;
                link.index = *input;
                link.bf16 = choice != nullptr && in_bf16(choice->inputs[*input]);
                if (link.bf16 && !link.whole) return std::nullopt;
            } else {
                link.from = Link::From::constant;
                link.index = constants.size();
                constants.push_back(plain_constant(task, step.operand));
            }
            if (!link.whole) {
                link.spread = Spread::make(std::move(own), dims, layout);
                if (!link.spread) return std::nullopt;
            }
        }
        chain.links_.push_back(std::move(link));
    }
    return chain;
}

bool Chain::keeps_padding() const {
    return std::ranges::all_of(links_, [](const Link& link) { return keeps_zero(link.step, link.whole); });
}

void Chain::run(const Pointers& pointers, const float* from, float* to, std::int64_t first, std::int64_t n,
                float* scratch) const {
    for (const Link& link : links_) {
        const float* operand = nullptr;
        if (link.from != Link::From::none) {
            const std::byte* memory =
                link.from == Link::From::input ? pointers.inputs[link.index] : pointers.constants[link.index];
            operand = reinterpret_cast<const float*>(memory);
            if (link.bf16) {
                widen(reinterpret_cast<const std::uint16_t*>(memory) + first, scratch, n);
                operand = scratch;
            } else {
                operand = link.whole ? operand + first : link.spread->chunk(operand, first, n, scratch);
            }
        }
        apply(link.step, to, from, operand, n);
        from = to;
    }
}

}  // namespace viridian::execute::cpu::simd
