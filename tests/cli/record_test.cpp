#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/log/power_log.hpp"

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

struct Root {  // sysfs of a test, for the commands of this process
    explicit Root(const std::filesystem::path& path) { ::setenv("VIRIDIAN_ROOT", path.c_str(), 1); }
    ~Root() { ::unsetenv("VIRIDIAN_ROOT"); }
};

TEST(Record, AMeterThatVanishesIsACountedWarningAndItsJoulesEndThere) {
    const meter::tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0", 1000, 262143328850);
    const Root root(tree.root());
    const std::string counter = (tree.root() / "sys/class/powercap/intel-rapl:0/energy_uj").string();
    // The program is the hardware: it counts 3 J in twenty steps, then goes away with its counter.
    const std::string program = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo $((1000 + i * 150000)) > " +
                                counter + "; sleep 0.02; done; : > " + counter + "; rm " + counter +
                                "; sleep 0.1; exit 7";
    const Outcome outcome =
        run({"record", "-o", (tree.root() / "out").string(), "--json", "--", "/bin/sh", "-c", program});
    EXPECT_EQ(outcome.code, 7) << outcome.out << outcome.err;  // the program's own
    const Json answer = *parse_json(outcome.out, "stdout");
    ASSERT_EQ(answer["devices"].size(), 1U);
    EXPECT_EQ(answer["devices"][0]["provenance"], "measured:powercap");
    EXPECT_LE(answer["devices"][0]["joules"], 3.0);  // what it counted, and nothing after
    EXPECT_GT(answer["devices"][0]["joules"], 0.0);
    EXPECT_GT(answer["meters"][0]["failures"], 0);
    const auto log = meter::read_power_log(tree.root() / "out/power.csv");
    ASSERT_TRUE(log.ok()) << log.error().text();
    std::ifstream file(tree.root() / "out/power.csv");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(text, HasSubstr("# lost powercap"));
}

// Runs `program` for at most 0.3 s; the answer.
Json record_for_a_while(const meter::tests::FakeTree& tree, const std::string& program) {
    const Outcome outcome = run({"record", "-o", (tree.root() / "out").string(), "--meter", "model",
                                 "--seconds", "0.3", "--json", "--", "/bin/sh", "-c", program});
    const Result<Json> answer = parse_json(outcome.out, "stdout");
    EXPECT_TRUE(answer.ok()) << outcome.err;
    Json out = answer.ok() ? *answer : Json::object();
    out["code"] = outcome.code;
    return out;
}

TEST(Record, StopsAProgramThatLastsTooLong) {
    const meter::tests::FakeTree tree;
    const std::string told = (tree.root() / "told").string();
    // A shell that waits for another one: both are told, and both may still write.
    const Json stopped =
        record_for_a_while(tree, "sh -c 'trap \"echo inner >> " + told +
                                     "; exit 0\" TERM; while :; do sleep 0.05; done'; exit 3");
    EXPECT_EQ(stopped["code"], 0);
    EXPECT_EQ(stopped["stopped"], true);
    EXPECT_GE(stopped["seconds"], 0.3);
    std::ifstream file(told);
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(file)), {}), "inner\n");
    EXPECT_TRUE(meter::read_power_log(tree.root() / "out/power.csv").ok());
    EXPECT_TRUE(std::filesystem::exists(tree.root() / "out/record.json"));
}

TEST(Record, ReplacesARecordingOnlyWhenForced) {
    const meter::tests::FakeTree tree;
    const std::string folder = (tree.root() / "out").string();
    const auto record = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"record", "-o", folder, "--meter", "model"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    ASSERT_EQ(record({"--", "true"}).code, 0);
    const std::string power = *read_file(folder + "/power.csv");
    std::ofstream(folder + "/torch.json.gz") << "the trace of the first program";
    const Outcome refused = record({"--", "true"});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("holds a recording"));
    EXPECT_THAT(refused.err, HasSubstr("--force"));
    EXPECT_EQ(*read_file(folder + "/power.csv"), power);
    EXPECT_EQ(record({"--force", "--", "true"}).code, 0);
    EXPECT_NE(*read_file(folder + "/power.csv"), power);
    EXPECT_FALSE(std::filesystem::exists(folder + "/torch.json.gz"));  // it belonged to the first program
}

TEST(Record, SaysThatTheTimeEndedBeforeTorchWasImported) {
    const meter::tests::FakeTree tree;
    const Outcome outcome =
        run({"record", "-o", (tree.root() / "out").string(), "--meter", "model", "--torch", "--seconds",
             "0.3", "--", "python3", "-c", "import time; time.sleep(60)"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("the time ended before it had imported torch"));
}

TEST(Record, LeavesAShorterProgramItsOwnEnd) {
    const meter::tests::FakeTree tree;
    const Json ended = record_for_a_while(tree, "exit 4");
    EXPECT_EQ(ended["code"], 4);
    EXPECT_EQ(ended["stopped"], false);
}

}  // namespace
}  // namespace viridian::cli
