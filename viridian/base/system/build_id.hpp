#pragma once
// Identifies the build of this code, which is in the program or in the shared library, by the linker's
// NT_GNU_BUILD_ID note, a hash of that object's content, so that results which another build computed can be
// told apart.
#include <string>

namespace viridian {

// Returns the hash in hexadecimal, or "" if the linker wrote none.
[[nodiscard]] std::string build_id();

}  // namespace viridian
