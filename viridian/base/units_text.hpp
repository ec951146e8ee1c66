#pragma once
// Writes a measured number for people, with a metric prefix.
#include <string>

namespace viridian {

// Returns `value`, which is in `unit`, as text: 0.00123 and "s" give "1.23 ms".
[[nodiscard]] std::string quantity(double value, const char* unit);

}  // namespace viridian
