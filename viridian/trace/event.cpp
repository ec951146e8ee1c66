#include "viridian/trace/event.hpp"

#include <array>

namespace viridian::trace {

std::string_view name_of(Kind kind) {
    static constexpr std::array<std::string_view, kind_count> names = {
        "operation", "kernel",   "copy",     "fill",   "launch", "module",
        "scope",     "function", "overhead", "marker", "counter"};
    return names[static_cast<std::size_t>(kind)];
}

namespace {

constexpr std::array<std::string_view, pass_count> pass_names = {"",       "forward", "backward",
                                                                 "weight", "update",  "recompute"};

}  // namespace

std::string_view name_of(Pass pass) { return pass_names[static_cast<std::size_t>(pass)]; }

Pass pass_of(std::string_view name) {
    for (std::size_t i = 1; i < pass_names.size(); ++i)
        if (pass_names[i] == name) return static_cast<Pass>(i);
    return Pass::unknown;
}

}  // namespace viridian::trace
