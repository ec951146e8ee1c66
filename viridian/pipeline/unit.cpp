#include "viridian/pipeline/unit.hpp"

#include <fmt/format.h>

namespace viridian::pipeline {
namespace {
constexpr std::array<std::string_view, kinds> names = {"forward", "backward", "weight", "reduce"};
}

std::string_view name_of(Kind kind) { return names.at(static_cast<std::size_t>(kind)); }

std::optional<Kind> kind_of(std::string_view name) {
    for (std::size_t k = 0; k < names.size(); ++k)
        if (names.at(k) == name) return static_cast<Kind>(k);
    return std::nullopt;
}

std::string Unit::text() const {
    if (kind == Kind::reduce) return fmt::format("reduce of stage {}", stage);
    return fmt::format("{} {} of stage {}", name_of(kind), micro_batch, stage);
}

}  // namespace viridian::pipeline
