// Crews and pools: every part runs once, whoever is late, and nobody waits for ever.
#include "viridian/execute/cpu/pool/pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "viridian/base/random.hpp"
#include "viridian/base/system/disturbance.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using std::chrono::milliseconds;

template <class Function>
void in_call(Pool& pool, const Function& f) {
    const auto result = with_crew(pool, [&]() -> Result<void> {
        f();
        return {};
    });
    EXPECT_TRUE(result.ok()) << result.error().text();
}

// Runs a job and expects every part once.
void run_once_each(int parts) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
    parallel(parts, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
    for (const auto& count : runs) ASSERT_EQ(count, 1);
}

class ThreadPools : public testing::TestWithParam<int> {
  protected:
    int threads_ = GetParam();
    Pool pool_{threads_, {}};
};

TEST_P(ThreadPools, RunEveryPartOnce) {
    in_call(pool_, [&] {
        for (int job = 0; job < 3000; ++job) run_once_each(1 + job % threads_);
    });
}

TEST_P(ThreadPools, WakeWorkersThatSleep) {
    for (int job = 0; job < 20; ++job) {
        in_call(pool_, [&] { run_once_each(threads_); });
        std::this_thread::sleep_for(milliseconds(2));  // far longer than workers spin
    }
}

TEST_P(ThreadPools, WakeWorkersThatWereParked) {
    in_call(pool_, [&] {
        for (int job = 0; job < 300; ++job) {
            {
                const OnThreads one(1);
                run_once_each(1);
                if (job % 10 == 0) std::this_thread::sleep_for(milliseconds(1));
            }
            const OnThreads all(0);
            run_once_each(threads_);
        }
    });
}

TEST_P(ThreadPools, LoseNoPartToALateThread) {
    in_call(pool_, [&] {
        for (unsigned job = 0; job < 60; ++job) {
            std::vector<std::atomic<int>> runs(static_cast<std::size_t>(threads_));
            parallel(threads_, [&](int part) {
                Random random(job * 64 + static_cast<unsigned>(part));
                if (random.below(3) == 0)
                    std::this_thread::sleep_for(std::chrono::microseconds(random.below(900)));
                ++runs[static_cast<std::size_t>(part)];
            });
            for (const auto& count : runs) ASSERT_EQ(count, 1);
        }
    });
}

// Every part adds to a sum, and all see the whole sum behind the barrier.
TEST_P(ThreadPools, MeetAtBarriers) {
    in_call(pool_, [&] {
        for (int job = 0; job < 100; ++job) {
            std::atomic<int> sum = 0, wrong = 0;
            parallel(threads_, [&](int part) {
                for (int round = 1; round <= 5; ++round) {
                    if (part == job % threads_ && round == job % 7)
                        std::this_thread::sleep_for(std::chrono::microseconds(300));
                    ++sum;
                    barrier(threads_);
                    if (sum != round * threads_) ++wrong;
                    barrier(threads_);
                }
            });
            ASSERT_EQ(wrong, 0);
            run_once_each(threads_);  // the next job has no barrier
        }
    });
}

TEST_P(ThreadPools, ThrowWhatAPartThrew) {
    in_call(pool_, [&] {
        for (int thrower = 0; thrower < threads_; ++thrower) {
            std::atomic<int> others = 0;
            EXPECT_THROW(parallel(threads_,
                                  [&](int part) {
                                      if (part == thrower) throw std::runtime_error("late");
                                      ++others;
                                  }),
                         std::runtime_error);
            EXPECT_EQ(others, threads_ - 1);
            run_once_each(threads_);
        }
    });
    const auto failed = with_crew(pool_, [&]() -> Result<void> {
        parallel(threads_,
                 [](int) { throw KernelFailure{fail(ErrorCode::malformed, "look", "a part failed")}; });
        return {};
    });
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().text(), "a part failed. look.");
}

// More callers than processors: most of them run alone, and call their workers at barriers.
TEST_P(ThreadPools, ServeManyCallersAtOnce) {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 6; ++caller)
        callers.emplace_back([&] {
            for (int call = 0; call < 10; ++call)
                in_call(pool_, [&] {
                    for (int job = 0; job < 20; ++job) run_once_each(threads_);
                    std::atomic<int> sum = 0;
                    parallel(threads_, [&](int) {
                        ++sum;
                        barrier(threads_);
                        EXPECT_EQ(sum, threads_);
                    });
                });
        });
}

TEST_P(ThreadPools, EndWhileTheirWorkersSpinOrSleep) {
    for (int round = 0; round < 20; ++round) {
        Pool other(threads_, {});
        if (round % 2 == 0) in_call(other, [&] { run_once_each(threads_); });
        if (round % 4 < 2) std::this_thread::sleep_for(milliseconds(1));
    }
}

TEST_P(ThreadPools, WorkInAChildProcess) {
    in_call(pool_, [&] { run_once_each(threads_); });
    const pid_t child = fork();
    if (child == 0) {
        in_call(pool_, [&] { run_once_each(threads_); });
        {
            const Pool gone(threads_, {});
        }
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    in_call(pool_, [&] { run_once_each(threads_); });
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPools, testing::Values(1, 2, 3, 8));

TEST(Pool, SeveralInOneProcessKeepTheirThreads) {
    Pool small(2, {}), large(3, {});
    in_call(small, [&] {
        run_once_each(2);
        EXPECT_EQ(seat().crew->threads(), 2);
        in_call(large, [&] {
            run_once_each(3);
            EXPECT_EQ(seat().crew->threads(), 3);
        });
        const Crew* own = seat().crew;
        in_call(small, [&] { EXPECT_EQ(seat().crew, own) << "a call within a call has its crew"; });
        run_once_each(2);
    });
    EXPECT_EQ(seat().crew, nullptr);
}

TEST(Pool, LetsACallRunAloneWhenOthersUseEveryProcessor) {
    Pool everything(static_cast<int>(physical_cpus().size()), {}), pool(2, {});
    const auto runs_alone = [&] {
        bool alone = false;
        std::jthread([&] { in_call(pool, [&] { alone = seat().crew->alone(); }); }).join();
        return alone;
    };
    EXPECT_FALSE(runs_alone());
    in_call(everything, [&] {
        EXPECT_FALSE(seat().crew->alone());
        EXPECT_TRUE(runs_alone());
    });
    EXPECT_FALSE(runs_alone()) << "a call gives its processors back";
}

// Returns whether the caller ran both parts of some job, of as many as a worker may need to fall asleep.
bool a_job_runs_on_one_thread() {
    for (int job = 0; job < 200; ++job) {
        std::vector<std::thread::id> ids(2);
        parallel(2, [&](int part) { ids[static_cast<std::size_t>(part)] = std::this_thread::get_id(); });
        if (ids[0] == ids[1]) return true;
        std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
}

TEST(Pool, HandsPartsThatNobodyHasBegunToTheCaller) {
    Pool pool(2, {});
    in_call(pool, [&] {
        seat().crew->keep_alone(true);  // its worker is not called
        EXPECT_TRUE(a_job_runs_on_one_thread());
    });
}

// Returns whether the caller of a crew whose workers rest did a worker's part, and told so. A worker that has
// not fallen asleep yet may still take its part.
bool caller_stands_in() {
    while (seat().crew->rests()) {
        const Disturbance disturbance;
        parallel(2, [](int) { std::this_thread::sleep_for(milliseconds(2)); });
        if (!disturbance.none(4e-3)) return true;
    }
    return false;
}

// A part that sleeps stands for a worker without a processor. A job whose parts wait for each other anyhow
// calls the worker even so.
TEST(Pool, RunsAloneForAWhileAfterAStall) {
    Pool pool(2, {});
    in_call(pool, [&] {
        bool rested = false, stood_in = false;
        for (int stall = 0; stall < 10 && !stood_in; ++stall) {
            parallel(2, [&](int part) {
                barrier(2);
                if (part == 1) std::this_thread::sleep_for(milliseconds(30));
            });
            rested |= seat().crew->rests();
            std::atomic<int> begun = 0;
            seat().crew->run(
                2,
                [](void* data, int) {
                    auto& count = *static_cast<std::atomic<int>*>(data);
                    ++count;
                    while (count < 2) std::this_thread::yield();
                },
                &begun, Crew::Waits::anyhow);
            EXPECT_EQ(begun, 2);
            stood_in = caller_stands_in();
        }
        EXPECT_TRUE(rested);
        EXPECT_TRUE(stood_in);
        seat().crew->end_rest();
        EXPECT_FALSE(seat().crew->rests());
    });
}

TEST(OneDnn, RunsOnOurCrews) { EXPECT_TRUE(onednn_runs_on_crews()); }

}  // namespace
}  // namespace viridian::execute::cpu
