#include "viridian/cli/run_cli.hpp"

#include "tests/cli/run_cli_support.hpp"

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
