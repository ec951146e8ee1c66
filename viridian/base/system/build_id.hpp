#pragma once
// Which build of the program this is: the linker's NT_GNU_BUILD_ID note, a hash of the program's content.
// What one build computed can be told from what another did.
#include <string>

namespace viridian {

// Hexadecimal; "" where the linker wrote none.
[[nodiscard]] std::string build_id();

}  // namespace viridian
