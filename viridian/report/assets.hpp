#pragma once
// Gives access to the HTML, CSS and JavaScript files of this folder, which the build embeds into the
// program.
#include <string_view>

namespace viridian::report {

// Returns the text of the file `name` ("page.css"), "" if there is no such file.
[[nodiscard]] std::string_view asset(std::string_view name);

}  // namespace viridian::report
