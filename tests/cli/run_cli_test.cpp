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

}  // namespace
}  // namespace viridian::cli
