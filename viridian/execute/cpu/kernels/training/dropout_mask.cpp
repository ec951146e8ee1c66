// DropoutMask with vectors of counters.
#include <algorithm>

#include "viridian/execute/cpu/kernels/training/mask_work.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view dropout_mask_family_name = "simd:dropout";
constexpr std::int64_t mask_piece = 4096;  // elements that one thread draws at a time

std::optional<MaskWork> only_mask(const Task& task) {
    return task.region.nodes.size() == 1 ? mask_work(task, task.node()) : std::nullopt;
}

std::vector<plan::Choice> offers_dropout_mask(const Task& task) {
    if (!only_mask(task)) return {};
    return {task.plain_choice(std::string(dropout_mask_family_name))};
}

Result<Kernel> prepare_dropout_mask(const Task& task, const plan::Choice& choice) {
    const auto work = only_mask(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    kernel.run = [w = *work, threads = task.context.threads](const Pointers& pointers) {
        const Draw mask = w.of(pointers);
        auto* const keep = reinterpret_cast<std::uint8_t*>(pointers.outputs[0]);
        const std::int64_t pieces = (w.elements + mask_piece - 1) / mask_piece;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t p = first; p < last; ++p) {
                const std::int64_t sample = p / pieces, at = p % pieces * mask_piece;
                mask.draw(sample, at, std::min(mask_piece, w.elements - at), keep + sample * w.elements + at);
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
