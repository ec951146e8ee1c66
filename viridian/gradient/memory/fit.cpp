#include "viridian/gradient/memory/fit.hpp"

#include <algorithm>

#include "viridian/base/units_text.hpp"
#include "viridian/gradient/memory/recompute.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::gradient {

Result<void> fit(graph::Graph& step, Bytes most, const RunNeed& need) {
    VIRIDIAN_TRY(rewrite::simplify(step));
    const auto need_of = [&](const graph::Graph& graph, Bytes values) -> Result<Bytes> {
        return need ? need(graph) : Result<Bytes>(values + Bytes(values.value / 20));
    };
    std::optional<Bytes> before, least;
    Bytes counted = most;  // what the values of the next step may take
    for (std::int64_t times = 1;; times *= 2) {
        graph::Graph tried = step;
        VIRIDIAN_TRY(const Recomputation done, recompute(tried, counted));
        VIRIDIAN_TRY(const Bytes needed, need_of(tried, done.after));
        if (needed <= most) {
            step = std::move(tried);
            return {};
        }
        if (!before) {
            VIRIDIAN_TRY(before, need_of(step, done.before));
            if (*before <= most) return {};
        }
        least = std::min(needed, least.value_or(*before));
        if (done.after > counted) break;  // nothing else can be computed again
        counted = std::max(Bytes(1), done.after - (needed - most) * times);
    }
    return fail(
        ErrorCode::limit_exceeded, "allow more, or choose a smaller batch",
        "a training step needs {} of memory, or {} if activations are computed again, and {} are allowed",
        size_text_up(*before), size_text_up(*least), size_text(most));
}

}  // namespace viridian::gradient
