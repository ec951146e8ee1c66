// rooms: search
#include <cstddef>

#include "viridian/search/objective/objective.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto parsed = viridian::search::parse_objective({reinterpret_cast<const char*>(data), size});
    if (parsed.ok()) {
        const auto again = viridian::search::parse_objective(viridian::search::text(*parsed));
        if (!again.ok()) __builtin_trap();
    }
    return 0;
}
