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
    std::set<fs::path> files;
    for (const char* folder : {"kernels", "simd"})
        for (const fs::directory_entry& entry :
             fs::recursive_directory_iterator(tests::source_folder() / "viridian/execute/cpu" / folder))
            if (entry.is_regular_file()) files.insert(entry.path());
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
