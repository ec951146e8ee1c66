// `viridian account` and its products, from files to JSON, text and pages.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;

// A TensorFlow timeline of three layers, run `steps` times, and a 1 ms counter of its power: 100 W for layer
// 0, 200 W for the others, `more` W on top.
class Account : public testing::Test {
  protected:
    std::string at(const std::string& name) const { return (folder_ / name).string(); }

    void write(const std::string& name, double more) const {
        std::ofstream trace(folder_ / (name + ".json")), power(folder_ / (name + ".csv"));
        trace
            << R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"/job:a/device:CPU:0 Compute"}})";
        power << "time_ns,meter,device,scope,kind,value,window_ns\n";
        std::int64_t us = 1'700'000'000'000'000, energy = 0;
        for (int step = 0; step < 20; ++step)
            for (int layer = 0; layer < 3; ++layer) {
                const std::string path = fmt::format("net/layer_{}/dense/MatMul", layer);
                trace << fmt::format(
                    R"(,{{"ph":"X","cat":"Op","name":"MatMul","pid":1,"tid":0,"ts":{},"dur":10000,"args":{{"name":"{}","op":"MatMul"{}}}}})",
                    us, path,
                    layer > 0 ? fmt::format(R"(,"input0":"net/layer_{}/dense/MatMul")", layer - 1) : "");
                for (int i = 0; i < 10; ++i, us += 1000) {
                    power << us << "000,powercap,cpu:0,package,energy_uj," << energy << ",\n";
                    energy += static_cast<std::int64_t>(1000 * ((layer == 0 ? 100 : 200) + more));
                }
            }
        power << us << "000,powercap,cpu:0,package,energy_uj," << energy << ",\n";
        trace << "]}\n";
    }
    Json account(const std::string& name, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"account",         "--trace", at(name + ".json"),        "--power",
                                          at(name + ".csv"), "-o",      at(name + ".result.json"), "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
        return *parse_json(outcome.out, "stdout");
    }
    const tests::TemporaryFolder folder_;
};

TEST_F(Account, JoulesFlowsDiagramAndPrecision) {
    write("a", 0);
    const Json json = account("a", {"--precision"});
    EXPECT_EQ(json["schema"], "viridian.account/2");
    ASSERT_EQ(json["operations"].size(), 3U);
    EXPECT_NEAR(json["operations"][2]["joules"]["value"].get<double>(), 20.0, 1e-6);
    EXPECT_EQ(json["operations"][2]["joules"]["provenance"], "derived:overlap from logged:powercap package");
    EXPECT_EQ(json["edges"].size(), 2U);
    ASSERT_EQ(json["summary"].size(), 1U);
    EXPECT_EQ(json["summary"][0]["name"], "net/transformer/dense/MatMul");
    EXPECT_NEAR(json["summary"][0]["joules"].get<double>(), 100.0, 1e-6);
    double shares = 0;
    for (const Json& box : json["diagram"])
        if (box["parent"] == "net") shares += box["share"].get<double>();
    EXPECT_NEAR(shares, 1.0, 1e-9);
    EXPECT_EQ(json["precision"].size(), 5U);
    EXPECT_NEAR(json["precision"][0]["period_ms"].get<double>(), 2.0, 1e-9);
    EXPECT_THAT(*read_file(at("a.result.html")), HasSubstr("net/layer_2/dense/MatMul"));
}

TEST_F(Account, APageNameKeepsTheResultInAFileOfItsOwn) {
    write("a", 0);
    const Outcome outcome =
        run({"account", "--trace", at("a.json"), "--power", at("a.csv"), "-o", at("page.html")});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(*read_file(at("page.html")), HasSubstr("<html"));
    EXPECT_TRUE(parse_json(*read_file(at("page.json")), "page.json").ok());
    EXPECT_THAT(outcome.out, HasSubstr("wrote " + at("page.json")));
    EXPECT_THAT(outcome.out, HasSubstr("wrote " + at("page.html")));
}

TEST_F(Account, ATimelineHasJoulesAndPower) {
    write("run", 0);
    account("run", {"--timeline", at("timeline.json")});
    const Json timeline = *parse_json(*read_file(at("timeline.json")), "timeline");
    double joules = 0;
    std::size_t powers = 0;
    for (const Json& event : timeline["traceEvents"]) {
        if (event.value("ph", "") == "X") joules += 1e-6 * event["args"].value("energy_uj", 0.0);
        powers +=
            event.value("ph", "") == "C" && event.value("name", "").find(" power (") != std::string::npos;
    }
    EXPECT_NEAR(joules, 20 * 0.010 * (100 + 200 + 200), 1e-3);
    EXPECT_GT(powers, 0U);
    for (const char* name : {"run.csv", "timeline.csv", "run.result.json"}) {
        const Outcome refused = run({"account", "--trace", at("run.json"), "--power", at("run.csv"), "-o",
                                     at("run.result.json"), "--timeline", at(name)});
        EXPECT_EQ(refused.code, 1) << name << refused.out;
    }
}

TEST_F(Account, TraceConvertWritesEveryFormatAndRefusesOthers) {
    write("a", 0);
    for (const char* name : {"out.folded", "out.pb", "out.pb.gz", "out.speedscope.json", "out.csv",
                             "out.json.gz", "out.vtrace"}) {
        const Outcome outcome = run({"trace", "convert", at("a.json"), at(name)});
        EXPECT_EQ(outcome.code, 0) << name << ": " << outcome.err;
        EXPECT_TRUE(std::filesystem::exists(at(name))) << name;
    }
    EXPECT_THAT(*read_file(at("out.folded")), HasSubstr("net;layer_0;dense;MatMul 200000000"));
    const Outcome refused = run({"trace", "convert", at("a.json"), at("out.pftrace")});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("--to"));
    EXPECT_FALSE(std::filesystem::exists(at("out.pftrace")));
    EXPECT_EQ(run({"trace", "convert", at("a.json"), at("out.pftrace"), "--to", "json"}).code, 0);
}

TEST_F(Account, TopOverRunsHasWhiskersAndWarnsOfFew) {
    for (int i = 0; i < 3; ++i) {
        write("r" + std::to_string(i), 10.0 * i);
        account("r" + std::to_string(i));
    }
    const Outcome outcome = run({"account", "top", at(""), "--json", "-o", at("top.json")});
    ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    const Json json = *parse_json(outcome.out, "stdout");
    EXPECT_EQ(json["runs"], 3);
    EXPECT_NEAR(json["total"]["value"].get<double>(), 106.0, 1e-3);
    EXPECT_NEAR(json["total"]["high"].get<double>() - 106.0, 6.0, 1e-3);
    EXPECT_EQ(json["warnings"].size(), 1U);
    EXPECT_TRUE(std::filesystem::exists(at("top.html")));
}

TEST_F(Account, DiffOfExperimentsHasMatricesAndWidening) {
    for (int i = 0; i < 3; ++i) {
        write("r" + std::to_string(i), 50.0 * i);
        account("r" + std::to_string(i));
    }
    const std::string a = at("r0.result.json"), b = at("r1.result.json"), c = at("r2.result.json");
    const Outcome outcome = run({"account", "diff", a + "," + a, b, c, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    const Json json = *parse_json(outcome.out, "stdout");
    EXPECT_EQ(json["runs"], Json({2, 1, 1}));
    EXPECT_NEAR(json["mean_energy_difference"].get<double>(), 30.0, 1e-3);
    EXPECT_NEAR(json["matrix"]["mean_energy_difference"][2][0].get<double>(), 60.0, 1e-3);  // row less column
    EXPECT_NEAR(json["matrix"]["mean_power_difference"][1][0].get<double>(), 50.0, 1e-3);
    EXPECT_EQ(json["assw"].size(), 3U);
    EXPECT_EQ(json["assw"][2]["runs"], 4);
    EXPECT_EQ(run({"account", "diff", a}).code, 1);
}

TEST_F(Account, EpochsFromBounds) {
    write("a", 0);
    const Outcome none = run({"account", "epochs", "--trace", at("a.json"), "--power", at("a.csv")});
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("--epochs FILE"));
    std::ofstream bounds(at("epochs.csv"));
    for (int i = 0; i < 20; ++i)
        bounds << 1'700'000'000'000'000'000 + i * 30'000'000LL << ','
               << 1'700'000'000'030'000'000 + i * 30'000'000LL << '\n';
    bounds.close();
    const Outcome outcome = run({"account", "epochs", "--trace", at("a.json"), "--power", at("a.csv"),
                                 "--epochs", at("epochs.csv"), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    const Json json = *parse_json(outcome.out, "stdout");
    EXPECT_EQ(json["epochs"], 20);
    EXPECT_EQ(json["block"], "net/layer_*");
    const Json& points = json["devices"][0]["points"];
    ASSERT_EQ(points.size(), 30U);
    EXPECT_NEAR(points[3]["watts"].get<double>(), 100, 1e-6);
    EXPECT_NEAR(points[25]["watts"].get<double>(), 200, 1e-6);
    EXPECT_EQ(points[3]["first"], 1.0);
    EXPECT_EQ(points[25]["other"], 1.0);
}

TEST_F(Account, OverheadRunsTheProgramBothWays) {
    const Outcome outcome = run({"account", "overhead", "--runs", "2", "--json", "--", "sleep", "0.05"});
    ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    const Json json = *parse_json(outcome.out, "stdout");
    EXPECT_EQ(json["schema"], "viridian.account-overhead/1");
    EXPECT_EQ(json["with"]["seconds"]["count"], 2);
    EXPECT_GE(json["without"]["seconds"]["mean"].get<double>(), 0.05);
    EXPECT_EQ(run({"account", "overhead", "--runs", "2", "--", "false"}).code, 1);
}

TEST(Record, AFullDiskIsSaidAndWholeLinesAreKept) {
    const tests::TemporaryFolder all;
    const Path folder = all / "recording";
    const std::string command =
        fmt::format("trap '' XFSZ; ulimit -f 2; {} record -o {} --json -- sleep 0.3 >{}.out",
                    tests::command_line().string(), folder.string(), folder.string());
    ASSERT_EQ(std::system(command.c_str()) >> 8, 2);
    const Json json = *parse_json(*read_file(folder.string() + ".out"), "stdout");
    EXPECT_EQ(json["exit_code"], 0);  // the program's own
    EXPECT_THAT(json["error"]["message"].get<std::string>(), HasSubstr("cannot grow"));
    const std::string kept = *read_file(folder / "power.csv");
    EXPECT_LE(kept.size(), 2048U);
    EXPECT_EQ(kept.back(), '\n');
}

}  // namespace
}  // namespace viridian::cli
