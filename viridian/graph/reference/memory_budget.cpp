#include "viridian/graph/reference/memory_budget.hpp"

#include "viridian/base/system/memory_limit.hpp"
#include "viridian/base/units_text.hpp"

namespace viridian::graph {

Result<void> MemoryBudget::check(Bytes bytes) {
    constexpr Bytes worth_a_look(std::int64_t{256} << 20);
    const Bytes sum = held_ + bytes;
    if (!most_) {
        if (sum < worth_a_look) return {};
        most_ = usual_memory_limit();
    }
    if (sum <= *most_) return {};
    const std::string needs = fmt::format(
        "its result takes {}, with which values whose size is known only while the model runs need {}",
        size_text(bytes), size_text(sum));
    if (given_)
        return fail(ErrorCode::limit_exceeded,
                    "choose smaller sizes with --dim or --batch, or raise --memory",
                    "{}, and --memory leaves {} for them", needs, size_text(*most_));
    return fail(ErrorCode::out_of_memory, "choose smaller sizes with --dim or --batch",
                "{}, and {} may be used, which is three quarters of what was free", needs, size_text(*most_));
}

}  // namespace viridian::graph
