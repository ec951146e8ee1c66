#include "viridian/cli/run_cli.hpp"

#include <gtest/gtest.h>

#include <array>

#include "viridian/base/json.hpp"

namespace viridian::cli {
namespace {

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

Outcome run(const std::vector<const char*>& arguments) {
    std::vector<const char*> all = {"viridian"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(all.size()), all.data());
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(RunCli, DoctorAnswersOneJsonObject) {
    const Outcome outcome = run({"doctor", "--json"});
    EXPECT_EQ(outcome.code, 0);
    const auto json = parse_json(outcome.out, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["schema"], "viridian.doctor/1");
    EXPECT_GE((*json)["machine"]["physical_cores"], 1);
}

TEST(RunCli, UnknownCommandIsTheUsersErrorWithANextStep) {
    const Outcome outcome = run({"docter"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("viridian --help"), std::string::npos);
    EXPECT_EQ(outcome.out, "");
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
