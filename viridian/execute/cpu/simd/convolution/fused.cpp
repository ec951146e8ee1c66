#include "viridian/execute/cpu/simd/convolution/fused.hpp"

#include <algorithm>
#include <limits>

namespace viridian::execute::cpu::simd {
namespace {

// The full-size region input that the first step adds, and no other reads.
std::optional<std::size_t> residual(const Task& task, const std::vector<EpilogueStep>& steps,
                                    const graph::Dims& dims) {
    if (steps.empty() || steps[0].function != Function::add || task.dims(steps[0].operand) != dims)
        return std::nullopt;
    const auto uses = [&](const EpilogueStep& step) { return step.operand == steps[0].operand; };
    if (std::ranges::count_if(steps, uses) > 1) return std::nullopt;
    return task.input_index(steps[0].operand);
}

}  // namespace

std::optional<Fused> Fused::make(const Task& task, const std::vector<EpilogueStep>& steps,
                                 const graph::Dims& dims, const plan::Layout& layout,
                                 std::vector<Packed>& constants) {
    Fused fused;
    fused.added = residual(task, steps, dims);
    std::vector<EpilogueStep> left(steps.begin() + (fused.added ? 1 : 0), steps.end());
    if (left.size() == 1 && (left[0].function == Function::relu || left[0].function == Function::clip)) {
        fused.clip = true;
        fused.low = left[0].function == Function::relu ? 0 : left[0].alpha;
        fused.high =
            left[0].function == Function::relu ? std::numeric_limits<float>::infinity() : left[0].beta;
        left.clear();
    }
    // Zeroes in the padding of blocks must stay zeroes.
    const bool padded = std::ranges::any_of(
        layout.blocks, [&](const auto& block) { return dims[block.dimension] % block.size != 0; });
    if (padded && fused.clip && (fused.low > 0 || fused.high < 0)) return std::nullopt;
    if (!left.empty()) {
        fused.chain = Chain::make(task, left, dims, layout, constants);
        if (!fused.chain || (padded && !fused.chain->keeps_padding())) return std::nullopt;
    }
    return fused;
}

void offer_with_residual(const Task& task, const std::vector<EpilogueStep>& steps, const graph::Dims& dims,
                         plan::Choice choice, std::vector<plan::Choice>& to) {
    const auto added = residual(task, steps, dims);
    if (added && task.region.dies[*added]) {
        plan::Choice in_place = choice;
        in_place.aliasing = plan::Aliasing::overwrite;
        in_place.overwritten = *added;
        to.push_back(std::move(in_place));
    }
    to.push_back(std::move(choice));
}

}  // namespace viridian::execute::cpu::simd
