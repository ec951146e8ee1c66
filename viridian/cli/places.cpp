#include "viridian/cli/places.hpp"

#include <cstdlib>

namespace viridian::cli {

meter::Places places() {
    meter::Places here;
    if (const char* nvml = std::getenv("VIRIDIAN_NVML"); nvml != nullptr && *nvml != '\0') here.nvml = nvml;
    return here;
}

}  // namespace viridian::cli
