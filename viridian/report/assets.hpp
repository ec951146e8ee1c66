#pragma once
#include <string_view>

namespace viridian::report {

// The text of an embedded file of this folder ("page.css"); empty for an unknown name.
[[nodiscard]] std::string_view asset(std::string_view name);

}  // namespace viridian::report
