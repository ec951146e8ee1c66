#include "viridian/cli/places.hpp"

#include <cstdlib>

namespace viridian::cli {

meter::Places places() {
    meter::Places here;
    const auto told = [](const char* name, auto& place) {
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0') place = value;
    };
    told("VIRIDIAN_NVML", here.nvml);
    told("VIRIDIAN_AMDSMI", here.amdsmi);
    told("VIRIDIAN_REPLAY", here.replay);
    told("VIRIDIAN_ROOT", here.root);  // sysfs and procfs below another folder: a container's host, a test
    return here;
}

}  // namespace viridian::cli
