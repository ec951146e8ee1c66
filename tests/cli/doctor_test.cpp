#include <gmock/gmock.h>

#include "tests/cli/run_cli_support.hpp"
#include "tests/meter/fake_tree.hpp"
#include "viridian/cli/meter/doctor_check.hpp"

#include "viridian/base/json.hpp"

namespace viridian::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

trace::cupti::Probe found(std::uint32_t version, std::string wrong = "", int status = 0) {
    return {"/usr/lib/libcupti.so.13", version, std::move(wrong), status};
}

TEST(DoctorCupti, NamesTheReleaseAndTheFile) {
    const Check check = check_cupti(found(130001), "RmProfilingAdminOnly: 1\n");
    EXPECT_TRUE(check.works);
    EXPECT_EQ(check.finding, "CUPTI of CUDA 13.0 records kernels");
    EXPECT_EQ(check.next_step, "");
    EXPECT_THAT(check.details, Contains("/usr/lib/libcupti.so.13"));
    EXPECT_THAT(check.details, Contains(HasSubstr("counters to root; tracing needs none")));
    EXPECT_EQ(check_cupti(found(130001), "RmProfilingAdminOnly: 0\n").details.size(), 1U);
    EXPECT_THAT(check_cupti(found(18), "").finding, HasSubstr("CUDA 11.8"));
    EXPECT_THAT(check_cupti(found(28), "").finding, HasSubstr("CUDA 12.8 or later"));
    EXPECT_THAT(check_cupti(found(0), "").finding, HasSubstr("unknown version"));
}

TEST(DoctorCupti, SaysWhatMendsIt) {
    const Check none = check_cupti({}, "");
    EXPECT_FALSE(none.works);
    EXPECT_THAT(none.next_step, HasSubstr("VIRIDIAN_CUPTI="));
    const Check denied = check_cupti(found(12, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", 35), "");
    EXPECT_FALSE(denied.works);
    EXPECT_THAT(denied.finding, HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
    EXPECT_THAT(denied.next_step, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    EXPECT_THAT(check_cupti(found(130001, "taken", 39), "x").next_step, HasSubstr("other profiler"));
    EXPECT_THAT(check_cupti(found(130001, "CUPTI_ERROR_NOT_INITIALIZED", 15), "").next_step,
                HasSubstr("modprobe nvidia"));
    EXPECT_THAT(check_cupti(found(130001, "CUPTI_ERROR_UNKNOWN", 999), "x").next_step,
                HasSubstr("the driver's CUDA version"));
}

TEST(DoctorProcessor, SaysWhatBf16IsWorth) {
    const auto finding = [](std::vector<std::string> sets, std::string_view name) {
        Machine machine;
        machine.instruction_sets = std::move(sets);
        for (const Check& check : check_processor(machine))
            if (check.name == name) return fmt::format("{} {}", check.works ? "+" : "-", check.finding);
        return std::string();
    };
    EXPECT_THAT(finding({"avx2", "avx512", "avx512_bf16"}, "avx512_bf16"), HasSubstr("+ bf16 dot products"));
    EXPECT_THAT(finding({"avx2", "avx512", "avx512_bf16"}, "amx_bf16"), Not(HasSubstr("not expected")));
    EXPECT_THAT(finding({"avx2", "avx512"}, "amx_bf16"), HasSubstr("bf16 can only save memory traffic"));
    EXPECT_THAT(finding({"avx2"}, "avx512_bf16"), HasSubstr("- no bf16"));
}

TEST(DoctorCupti, IsARowOfDoctor) {
    const meter::tests::FakeTree tree;
    tree.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
    ::setenv("VIRIDIAN_ROOT", tree.root().c_str(), 1);
    const auto row = [](const char* script) {
        ::setenv("VIRIDIAN_CUPTI", VIRIDIAN_FAKE_CUPTI_LIBRARY, 1);
        ::setenv("VIRIDIAN_FAKE_CUPTI", script, 1);
        const Json answer = *parse_json(run({"doctor", "--json"}).out, "stdout");
        ::unsetenv("VIRIDIAN_CUPTI");
        ::unsetenv("VIRIDIAN_FAKE_CUPTI");
        for (const Json& check : answer["checks"])
            if (check["name"] == "cupti") return check;
        return Json();
    };
    EXPECT_EQ(row("")["name"], "cupti");
    EXPECT_EQ(row("")["works"], true);
    EXPECT_EQ(row("")["details"].size(), 2U);
    EXPECT_THAT(row("denied")["next_step"].get<std::string>(), HasSubstr("RestrictProfilingToAdminUsers"));
    ::unsetenv("VIRIDIAN_ROOT");
}

}  // namespace
}  // namespace viridian::cli
