#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/power_log.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

struct Root {  // sysfs of a test, for the commands of this process
    explicit Root(const std::filesystem::path& path) { ::setenv("VIRIDIAN_ROOT", path.c_str(), 1); }
    ~Root() { ::unsetenv("VIRIDIAN_ROOT"); }
};

TEST(Record, ADiskThatIsFullIsSaidAndTheProgramRunsToItsEnd) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
    const meter::tests::FakeTree folder;
    std::filesystem::create_symlink("/dev/full", folder.root() / "power.csv");
    const std::string done = (folder.root() / "done").string();
    const Outcome full = run({"record", "-o", folder.root().string(), "--json", "--", "/bin/sh", "-c",
                              "sleep 0.1; echo > " + done});
    EXPECT_EQ(full.code, 2);
    EXPECT_TRUE(std::filesystem::exists(done));
    const Json answer = *parse_json(full.out, "stdout");
    EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("cannot grow"));
    EXPECT_EQ(answer["exit_code"], 0);
    EXPECT_TRUE(answer["devices"].empty());  // no joules are made up
    EXPECT_FALSE(std::filesystem::exists(folder.root() / "record.json"));
}

TEST(Record, AMeterThatVanishesIsACountedWarningAndItsJoulesEndThere) {
    const meter::tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0", 1000, 262143328850);
    const Root root(tree.root());
    const std::string counter = (tree.root() / "sys/class/powercap/intel-rapl:0/energy_uj").string();
    // The program is the hardware: it counts 3 J, then goes away with its counter.
    const Outcome outcome = run({"record", "-o", (tree.root() / "out").string(), "--", "/bin/sh", "-c",
                                 "sleep 0.2; echo 3001000 > " + counter + "; sleep 0.2; : > " + counter +
                                     "; rm " + counter + "; sleep 0.2; exit 7"});
    EXPECT_EQ(outcome.code, 7) << outcome.out << outcome.err;  // the program's own
    EXPECT_THAT(outcome.out, HasSubstr("cpu:0 package: 3 J"));
    EXPECT_THAT(outcome.out, HasSubstr("measured:powercap"));
    EXPECT_THAT(outcome.out, HasSubstr("warning: powercap failed"));
    const auto log = meter::read_power_log(tree.root() / "out/power.csv");
    ASSERT_TRUE(log.ok()) << log.error().text();
    std::ifstream file(tree.root() / "out/power.csv");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(text, HasSubstr("# lost powercap"));
}

}  // namespace
}  // namespace viridian::cli
