#pragma once
// Identifies the build of this program by the linker's NT_GNU_BUILD_ID note, a hash of the program's
// content, so that results which another build computed can be told apart.
#include <string>

namespace viridian {

// Hexadecimal; "" where the linker wrote none.
[[nodiscard]] std::string build_id();

}  // namespace viridian
