#include "viridian/cli/run_cli.hpp"

#include "tests/cli/run_cli_support.hpp"
#include "viridian/cli/arguments.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/execute/cpu/version.hpp"

namespace viridian::cli {
namespace {

TEST(RunCli, DoctorAnswersOneJsonObject) {
    const Outcome outcome = run({"doctor", "--json"});
    EXPECT_EQ(outcome.code, 0);
    const auto json = parse_json(outcome.out, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["schema"], "viridian.doctor/1");
    EXPECT_GE((*json)["machine"]["physical_cores"], 1);
}

TEST(RunCli, UnknownCommandIsTheUsersErrorWithANextStep) {
    const Outcome slip = run({"docter"});
    EXPECT_EQ(slip.code, 1);
    EXPECT_EQ(slip.err, "viridian: there is no command `docter`. did you mean `viridian doctor`?\n");
    EXPECT_EQ(slip.out, "");
    const Outcome strange = run({"improve"});
    EXPECT_EQ(strange.code, 1);
    EXPECT_EQ(strange.err, "viridian: there is no command `improve`. see `viridian --help`.\n");
}

TEST(RunCli, AloneShowsEveryCommandInGroups) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, {"--help"}, {"help"}, {"--json", "--help"}}) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0);
        EXPECT_EQ(outcome.err, "");
        std::size_t at = 0;
        for (const char* part :
             {"Usage: viridian COMMAND", "Try it:\n  doctor ", "Make a model cheaper:\n  optimize ",
              "See the joules:\n  record ", "Train:\n  gradient ", "Look into files:\n  inspect ",
              "viridian help COMMAND"}) {
            EXPECT_NE(outcome.out.find(part, at), std::string::npos) << part << outcome.out;
            at = outcome.out.find(part, at);
        }
    }
    EXPECT_EQ(run({"help", "--json"}).out, run({"--json"}).out);
    EXPECT_EQ(run({"help", "help"}).out, run({}).out);
    const auto json = parse_json(run({"--json"}).out, "stdout");
    ASSERT_TRUE(json.ok());
    std::size_t commands = 0;
    for (const CommandGroup& group : command_groups()) commands += group.commands.size();
    EXPECT_EQ((*json)["commands"].size(), commands);
    EXPECT_EQ((*json)["commands"][0]["name"], "doctor");
}

TEST(RunCli, HelpAndVersionAreCommandsToo) {
    EXPECT_EQ(run({"help", "pipeline", "plan"}).out, run({"pipeline", "plan", "--help"}).out);
    const std::vector<const char*> words = {"help", "run", "--inputs", "help"};
    EXPECT_EQ(arranged(words), (std::vector<std::string>{"run", "--inputs", "help", "--help"}));
    EXPECT_NE(run({"help", "doctor"}).out.find("viridian doctor"), std::string::npos);
    EXPECT_EQ(run({"help", "docter"}).err,
              "viridian: there is no command `docter`. did you mean `viridian doctor`?\n");
    EXPECT_EQ(run({"version"}).out, run({"--version"}).out);
    EXPECT_TRUE(run({"version"}).out.starts_with("viridian 0."));
    EXPECT_NE(run({"version"}).out.find(fmt::format("kernels {}", execute::cpu::kernels_version())),
              std::string::npos);
    EXPECT_EQ(run({"version"}).code, 0);
}

TEST(RunCli, JsonMayStandBeforeTheCommand) {
    const Outcome outcome = run({"--json", "doctor"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(parse_json(outcome.out, "stdout").ok()) << outcome.out;
    const auto error = parse_json(run({"--json", "docter"}).out, "stdout");
    ASSERT_TRUE(error.ok());
    EXPECT_EQ((*error)["error"]["code"], "invalid_argument");
}

TEST(RunCli, AModelIsAnsweredWithTheCommandThatRunsIt) {
    EXPECT_EQ(
        run({"net.onnx"}).err,
        "viridian: `net.onnx` is a file, and a command comes first. to run it: `viridian run net.onnx`.\n");
    EXPECT_EQ(run({"net.opt.plan.json", "--rounds", "3"}).code, 1);
}

TEST(RunCli, AnUnknownOptionNamesTheNearest) {
    EXPECT_EQ(run({"run", "m.onnx", "--treads", "2"}).err,
              "viridian: `viridian run` has no option `--treads`. did you mean `--threads`?\n");
    EXPECT_EQ(run({"run", "m.onnx", "-b", "4"}).err,
              "viridian: `viridian run` has no option `-b`. did you mean `--batch`?\n");
    EXPECT_EQ(run({"pipeline", "plan", "-m", "4", "--chunk=2"}).err,
              "viridian: `viridian pipeline plan` has no option `--chunk`. did you mean `--chunks`?\n");
    EXPECT_EQ(run({"doctor", "--unheard-of"}).err,
              "viridian: `viridian doctor` has no option `--unheard-of`. see `viridian doctor --help`.\n");
    EXPECT_EQ(run({"--jsn", "doctor"}).code, 1);
}

TEST(RunCli, StrayWordsAreReportedInOrder) {
    EXPECT_EQ(
        run({"doctor", "first", "second"}).err,
        "viridian: `viridian doctor` does not take: `first`, `second`. see `viridian doctor --help`.\n");
}

TEST(RunCli, ErrorsOfSubcommandsPointToTheirHelp) {
    const Outcome missing = run({"pipeline", "plan", "--device", "v100"});
    EXPECT_EQ(missing.code, 1);
    EXPECT_NE(missing.err.find("--micro-batches"), std::string::npos) << missing.err;
    EXPECT_NE(missing.err.find("see `viridian pipeline plan --help`"), std::string::npos) << missing.err;
    EXPECT_EQ(run({"pipeline"}).err,
              "viridian: `viridian pipeline` needs one of: partition, plan, simulate, frontier, check, "
              "convert. see "
              "`viridian pipeline --help`.\n");
}

TEST(RunCli, ErrorsAreJsonToo) {
    const Outcome outcome = run({"doctor", "--json", "--no-such-option"});
    EXPECT_EQ(outcome.code, 1);
    const auto json = parse_json(outcome.out, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["error"]["code"], "invalid_argument");
}

TEST(RunCli, HelpShowsAnExample) {
    const Outcome outcome = run({"doctor", "--help"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out.find("Example"), std::string::npos);
}

TEST(RunCli, HelpKeepsTheExampleWhereACommandSaysMore) {
    const Outcome outcome = run({"profile", "--help"});
    EXPECT_NE(outcome.out.find("viridian profile resnet50.onnx"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("Ctrl-C"), std::string::npos);
}

TEST(RunCli, OptionsThatRepeatTakeOneValueEach) {
    const std::vector<std::string> options[] = {{"run", "--dim", "N=2"},
                                                {"run", "--inputs", "x=f.npy"},
                                                {"run", "--allow", "bf16"},
                                                {"inspect", "--dim", "N=2"},
                                                {"profile", "--allow", "bf16"},
                                                {"check", "--dim", "N=2"},
                                                {"optimize", "-o", "x.onnx", "--without", "fold_batch_norm"}};
    for (std::vector<std::string> arguments : options) {
        arguments.push_back("/no/such/model.onnx");
        if (arguments[0] == "check") arguments.push_back("/no/such/model.certificate.json");
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 1);
        EXPECT_NE(outcome.err.find("there is no file `/no/such/model."), std::string::npos) << outcome.err;
    }
}

}  // namespace
}  // namespace viridian::cli
