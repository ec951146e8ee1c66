#pragma once
// Writes numbers of things for people: 1 and "lane" give "1 lane", 3 give "3 lanes".
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace viridian::cli {

[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace viridian::cli
