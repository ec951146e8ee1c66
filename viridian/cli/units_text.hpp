#pragma once
#include <string>

namespace viridian::cli {

// 0.00123, "s" → "1.23 ms"
[[nodiscard]] std::string quantity(double value, const char* unit);

}  // namespace viridian::cli
