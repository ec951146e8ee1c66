#include "viridian/trace/record/cupti.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "viridian/trace/record/cupti_api.hpp"
#ifdef VIRIDIAN_HAS_CUPTI_HEADERS
#include <cupti_activity.h>
#include <cupti_result.h>
#endif

namespace viridian::trace {
namespace {

using Launch = void (*)(const char*, std::uint32_t, std::uint64_t);

std::int64_t unix_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Launch fake() {
    void* library = ::dlopen(VIRIDIAN_FAKE_CUPTI_LIBRARY, RTLD_NOW);
    return library == nullptr ? nullptr : reinterpret_cast<Launch>(::dlsym(library, "fake_cupti_launch"));
}

// In a process of its own: the library keeps its script's clock.
void records_on_unix_time(const char* script) {
    ::setenv("VIRIDIAN_FAKE_CUPTI", script, 1);
    const Launch launch = fake();
    auto recorder = CuptiRecorder::start(VIRIDIAN_FAKE_CUPTI_LIBRARY);
    if (!recorder.ok()) std::exit(1);
    if (CuptiRecorder::start(VIRIDIAN_FAKE_CUPTI_LIBRARY).ok()) std::exit(2);  // one at a time
    const std::int64_t before = unix_ns();
    for (int i = 0; i < 5000; ++i) launch("_Z4gemmPKfS0_Pfi", 7, 1000);
    launch(nullptr, 9, 2000);
    const std::int64_t after = unix_ns();
    const auto trace = collect(*(*recorder)->finish());
    if (!trace.ok() || trace->events.size() != 5001) std::exit(3);
    constexpr std::int64_t slack = 1'000'000;  // of a clock that is not ours
    for (const Event& event : trace->events)
        if (event.start < before - slack || event.end > after + slack) std::exit(4);
    const Event& first = trace->events.front();
    if (trace->about.names[first.name] != "gemm(float const*, float const*, float*, int) <4,2,1>")
        std::exit(5);
    if (first.kind != Kind::kernel || first.correlation != 17 ||
        trace->about.devices[first.device] != "cuda:0")
        std::exit(6);
    std::size_t copies = 0;
    for (const Event& event : trace->events)
        copies += event.kind == Kind::copy && trace->about.names[event.name] == "Memcpy DtoH" ? 1U : 0U;
    if (copies != 1 || trace->about.lanes.size() != 2) std::exit(7);
    std::exit(trace->about.lost_events == 0 ? 0 : 8);
}

TEST(Cupti, RecordsKernelsOnUnixTime) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(records_on_unix_time(""), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(records_on_unix_time("small"), testing::ExitedWithCode(0), "");
}

TEST(Cupti, AlignsTheClockOfAnOlderLibrary) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(records_on_unix_time("old"), testing::ExitedWithCode(0), "");
}

TEST(Cupti, CountsWhatTheLibraryDropped) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(records_on_unix_time("drop=3"), testing::ExitedWithCode(8), "");
}

TEST(Cupti, SaysWhyItCannot) {
    EXPECT_EQ(CuptiRecorder::start("/nowhere/libcupti.so").error().code, ErrorCode::no_device);
    ::setenv("VIRIDIAN_FAKE_CUPTI", "refuse", 1);
    const auto refused = CuptiRecorder::start(VIRIDIAN_FAKE_CUPTI_LIBRARY);
    ::unsetenv("VIRIDIAN_FAKE_CUPTI");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("CUPTI_ERROR_NOT_INITIALIZED"), std::string::npos);
}

TEST(Cupti, IsProbedByStartingIt) {
    const auto probe = [](const char* script) {
        ::setenv("VIRIDIAN_FAKE_CUPTI", script, 1);
        const cupti::Probe found = cupti::probe(VIRIDIAN_FAKE_CUPTI_LIBRARY);
        ::unsetenv("VIRIDIAN_FAKE_CUPTI");
        EXPECT_EQ(found.path, VIRIDIAN_FAKE_CUPTI_LIBRARY);
        return found;
    };
    EXPECT_EQ(probe("").wrong, "");
    EXPECT_EQ(probe("").version, 130001U);
    EXPECT_EQ(probe("old").version, 12U);
    EXPECT_EQ(probe("denied").status, cupti::insufficient_privileges);
    EXPECT_EQ(probe("refuse").wrong, "CUPTI_ERROR_NOT_INITIALIZED");
    const cupti::Probe none = cupti::probe("/nowhere/libcupti.so");
    EXPECT_EQ(none.path, "");
    EXPECT_EQ(none.wrong, "there is no libcupti here");
    EXPECT_EQ(none.status, 0);
}

#ifdef VIRIDIAN_HAS_CUPTI_HEADERS
// What we declare stands where NVIDIA's headers of this machine have it.
template <class Theirs, class Ours>
constexpr bool same_times =
    offsetof(Theirs, start) == offsetof(Ours, start) && offsetof(Theirs, end) == offsetof(Ours, end) &&
    offsetof(Theirs, deviceId) == offsetof(Ours, device) &&
    offsetof(Theirs, streamId) == offsetof(Ours, stream) &&
    offsetof(Theirs, correlationId) == offsetof(Ours, correlation);
static_assert(same_times<CUpti_ActivityKernel4, cupti::KernelRecord>);
static_assert(same_times<CUpti_ActivityKernel9, cupti::KernelRecord>);
static_assert(same_times<CUpti_ActivityKernel10, cupti::KernelRecord>);
static_assert(same_times<CUpti_ActivityMemcpy5, cupti::CopyRecord>);
static_assert(same_times<CUpti_ActivityMemcpy6, cupti::CopyRecord>);
static_assert(same_times<CUpti_ActivityMemset3, cupti::FillRecord>);
static_assert(same_times<CUpti_ActivityMemset4, cupti::FillRecord>);
static_assert(offsetof(CUpti_ActivityKernel10, name) == offsetof(cupti::KernelRecord, name));
static_assert(offsetof(CUpti_ActivityKernel10, gridX) == offsetof(cupti::KernelRecord, grid));
static_assert(offsetof(CUpti_ActivityMemcpy6, copyKind) == offsetof(cupti::CopyRecord, copy_kind));
static_assert(offsetof(CUpti_ActivityMemcpy6, bytes) == offsetof(cupti::CopyRecord, bytes));
static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == cupti::kernel_kind);
static_assert(CUPTI_ACTIVITY_KIND_MEMCPY == cupti::copy_kind);
static_assert(CUPTI_ACTIVITY_KIND_MEMSET == cupti::fill_kind);
static_assert(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == 1);
static_assert(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == cupti::insufficient_privileges);
static_assert(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == cupti::multiple_subscribers);

TEST(Cupti, TheHeadersOfThisMachineAgree) { SUCCEED(); }
#else
TEST(Cupti, TheHeadersOfThisMachineAgree) { GTEST_SKIP() << "no CUPTI headers on this machine"; }
#endif

}  // namespace
}  // namespace viridian::trace
