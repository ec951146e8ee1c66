#pragma once
// Writes a measured number for people, with a metric prefix.
#include <string>

namespace viridian {

// 0.00123, "s" → "1.23 ms"
[[nodiscard]] std::string quantity(double value, const char* unit);

}  // namespace viridian
