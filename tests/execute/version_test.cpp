// Whoever changes a kernel is told to raise the version that prices are kept under.
#include "viridian/execute/cpu/version.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/hash.hpp"

namespace viridian::execute {
namespace {

namespace fs = std::filesystem;

// What prepares, runs and times kernels, but is none.
const std::set<std::string> not_kernels = {
    "device.cpp",  "device.hpp",    "executable.cpp", "executable.hpp", "timing.cpp",
    "timing.hpp",  "hand_over.cpp", "hand_over.hpp",  "ports.cpp",      "ports.hpp",
    "in_turn.cpp", "in_turn.hpp",   "bound_step.cpp", "bound_step.hpp", "version.hpp"};

// Without comments and blanks: neither changes a kernel.
std::string code_of(const std::string& text) {
    std::string code;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!quoted && text.compare(i, 2, "//") == 0) {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
        if (quoted || std::isspace(static_cast<unsigned char>(text[i])) == 0) code += text[i];
    }
    return code;
}

std::uint64_t hash_of_kernels() {
    const fs::path folder = tests::source_folder() / "viridian/execute/cpu";
    std::set<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && !not_kernels.contains(entry.path().filename().string()))
            files.insert(entry.path());
    EXPECT_GT(files.size(), 50U);
    Hash hash;
    for (const fs::path& path : files) {
        const auto text = read_file(path);
        EXPECT_TRUE(text.ok()) << path;
        if (text.ok()) hash.add(code_of(*text));
    }
    return hash.value();
}

TEST(KernelsVersion, IsRaisedWithTheKernels) {
    const std::uint64_t hash = hash_of_kernels();
    EXPECT_EQ(hash, cpu::kernels_hash) << fmt::format(
        "The sources of the kernels changed. In viridian/execute/cpu/version.hpp write\n"
        "    constexpr int kernels_version = {};\n"
        "    constexpr std::uint64_t kernels_hash = {:#x};\n"
        "or the second line alone where every kernel is offered, computes and takes as long as before (a "
        "name, a helper moved): prices measured so far are then kept.",
        cpu::kernels_version + 1, hash);
}

TEST(KernelsVersion, CommentsAndBlanksChangeNothing) {
    EXPECT_EQ(code_of("int a = 1;  // one \"\nauto b = \"x // y\";\n"), "inta=1;autob=\"x // y\";");
}

}  // namespace
}  // namespace viridian::execute
