// rooms: cost
#include <cstddef>

#include "viridian/base/json.hpp"
#include "viridian/cost/recorded.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = viridian::parse_json({reinterpret_cast<const char*>(data), size}, "input");
    if (json.ok()) (void)viridian::cost::recorded_from_json(*json);
    return 0;
}
