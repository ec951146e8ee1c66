#pragma once
// Where a test finds the sources and the built command line, whichever folder it is started from.
#include <filesystem>

namespace viridian::tests {

// build/<preset>/bin, where every executable of this build lies.
inline std::filesystem::path binary_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}
inline std::filesystem::path command_line() { return binary_folder() / "viridian"; }

inline std::filesystem::path source_folder() {
    std::filesystem::path folder = binary_folder();
    while (!std::filesystem::exists(folder / "CMakePresets.json") && folder.has_relative_path())
        folder = folder.parent_path();
    return folder;
}

}  // namespace viridian::tests
