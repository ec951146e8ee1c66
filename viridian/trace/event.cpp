#include "viridian/trace/event.hpp"

#include <array>

namespace viridian::trace {

std::string_view name_of(Kind kind) {
    static constexpr std::array<std::string_view, kind_count> names = {
        "operation", "kernel",   "copy",     "fill",   "launch", "module",
        "scope",     "function", "overhead", "marker", "counter"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Pass pass) {
    static constexpr std::array<std::string_view, pass_count> names = {"", "forward", "backward", "recompute",
                                                                       "optimizer"};
    return names[static_cast<std::size_t>(pass)];
}

}  // namespace viridian::trace
