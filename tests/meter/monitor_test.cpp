#include "viridian/meter/monitor/monitor.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "tests/meter/scripted.hpp"

namespace viridian::meter {
namespace {

using tests::Scripted;
using tests::until;

double package(const Epoch& epoch) { return epoch.energies[0].energy.value.value; }

TEST(Monitor, JoulesBetweenBoundsAreWhatTheScriptPutThere) {
    const Scripted script;
    Monitor monitor(script.meters(), {});
    const auto started = monitor.start({});
    ASSERT_TRUE(started.ok()) << started.error().text();
    ASSERT_EQ(started->channels.size(), 3U);
    EXPECT_EQ(started->counted, (std::vector<bool>{true, true, false}));  // core is inside the package
    script.package(1'000 + 5'000'000);
    script.dram(2'000 + 250'000);
    script.core(77);
    const auto first = monitor.read(started->session);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->total.value.value, 5.25);
    EXPECT_EQ(first->total.provenance.text(), "measured:powercap");
    EXPECT_LE(first->total.low.value, 5.25);
    script.package(1'000 + 5'000'000 + 1);
    const auto peeked = monitor.read(started->session, true);
    EXPECT_DOUBLE_EQ(package(*peeked), 1e-6);
    EXPECT_FALSE(peeked->complete);  // dram did not move
    ASSERT_FALSE(peeked->warnings.empty());
    script.package(1'000 + 8'000'000);
    script.dram(2'000 + 250'001);
    const auto stopped = monitor.stop(started->session);
    ASSERT_TRUE(stopped.ok());
    EXPECT_EQ(package(stopped->last), 3.0);  // the peek did not move the bound
    EXPECT_EQ(package(stopped->whole), 8.0);
    EXPECT_TRUE(stopped->last.complete);
    EXPECT_EQ(monitor.sessions(), 0U);
    EXPECT_EQ(monitor.read(started->session).error().code, ErrorCode::missing_entry);
}

TEST(Monitor, SessionsAreIndependentAndTheirEpochsAddUp) {
    const Scripted script;
    Monitor monitor(script.meters(), {});
    constexpr int count = 6, epochs = 40;
    std::atomic<bool> writing{true};
    std::thread hardware([&] {
        for (long long joules = 1; writing; ++joules) {
            script.package(1'000 + joules * 10'000);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    });
    std::vector<std::thread> clients;
    std::atomic<int> wrong{0};
    for (int i = 0; i < count; ++i)
        clients.emplace_back([&, i] {
            const auto started = monitor.start({.name = "client", .process = i % 2 == 0 ? ::getpid() : 0});
            double sum = 0.0;
            for (int epoch = 0; epoch < epochs; ++epoch) {
                const auto read = monitor.read(started->session);
                if (!read.ok() || package(*read) < 0.0) ++wrong;
                if (read.ok()) sum += package(*read);
                if (!monitor.samples(started->session).ok()) ++wrong;
            }
            const auto stopped = monitor.stop(started->session);
            if (std::abs(stopped->whole.energies[0].energy.value.value - sum - package(stopped->last)) > 1e-9)
                ++wrong;
        });
    for (std::thread& client : clients) client.join();
    writing = false;
    hardware.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(monitor.sessions(), 0U);
    EXPECT_EQ(monitor.snapshot().sampler.meters.size(), 1U);  // no process is watched any more
}

TEST(Monitor, AClientThatFallsSilentLosesItsSessionAndAStreamHoldsIt) {
    const Scripted script;
    Monitor monitor(script.meters(), {});
    const auto silent = monitor.start({.process = ::getpid(), .lease = Seconds(1.0)});
    const auto streaming = monitor.start({.lease = Seconds(1.0)});
    auto stream = monitor.stream(streaming->session);
    ASSERT_TRUE(stream.ok());
    until([&] {
        monitor.expire();
        return monitor.sessions() == 1;
    });
    EXPECT_FALSE(monitor.read(silent->session).ok());
    EXPECT_TRUE(monitor.read(streaming->session, true).ok());
    EXPECT_EQ(monitor.snapshot().sampler.meters.size(), 1U);
    stream->reset();  // its client is gone: the lease runs
    until([&] {
        monitor.expire();
        return monitor.sessions() == 0;
    });
    EXPECT_EQ(monitor.snapshot().expired, 2U);
}

TEST(Monitor, ALongSessionKeepsNoMoreThanTheRing) {
    const Scripted script;
    Monitor monitor(script.meters(), {.shortest_period = Seconds(0.0001), .most_samples = 3000});
    const auto started = monitor.start({.process = ::getpid(), .period = Seconds(0.0001)});
    auto stream = monitor.stream(started->session);
    const auto read_often = [&](int times) {
        for (int i = 0; i < times; ++i) {
            script.package(1'000 + i);
            ASSERT_TRUE(monitor.read(started->session).ok());
        }
    };
    read_often(2000);  // the ring is full
    const std::size_t before = ::mallinfo2().uordblks;
    read_often(10'000);
    EXPECT_LT(::mallinfo2().uordblks, before + 200'000);
    const auto kept = monitor.samples(started->session);
    ASSERT_TRUE(kept.ok());
    EXPECT_GT(kept->dropped, 20'000U);
    EXPECT_LE(kept->samples.size(), 3000U);
    EXPECT_LT((*stream)->next(100)->samples.size(), 101U);
    EXPECT_GT((*stream)->next(100)->left, 0U);
}

TEST(Monitor, AMeterThatVanishesIsSaidAndItsJoulesAreNotInvented) {
    const Scripted script;
    Monitor monitor(script.meters(), {});
    const auto started = monitor.start({});
    script.package(1'000 + 2'000'000);
    ASSERT_TRUE(monitor.read(started->session).ok());
    script.package_vanishes();
    script.dram(2'000 + 500'000);
    const auto without = monitor.read(started->session);
    ASSERT_TRUE(without.ok());
    EXPECT_FALSE(without->complete);
    EXPECT_EQ(package(*without), 0.0);
    EXPECT_EQ(without->total.value.value, 0.5);
    ASSERT_EQ(without->warnings.size(), 2U);
    EXPECT_NE(without->warnings[0].find("failed"), std::string::npos);
    EXPECT_NE(without->warnings[1].find("did not answer"), std::string::npos);
    EXPECT_TRUE(without->energies[1].complete);
    script.package(1'000 + 9'000'000);  // back, and it counted on meanwhile
    until([&] { return !monitor.snapshot().sampler.meters[0].lost; });
    const auto back = monitor.read(started->session);
    EXPECT_EQ(package(*back), 7.0);
    EXPECT_FALSE(back->energies[0].complete);  // nobody knows how much of it belongs here
    script.package(1'000 + 10'000'000);
    EXPECT_TRUE(monitor.read(started->session)->energies[0].complete);
    EXPECT_EQ(package(monitor.stop(started->session)->whole), 10.0);
}

TEST(Monitor, AProcessGetsItsShare) {
    const Scripted script;
    Monitor monitor(script.meters(), {});
    const auto started = monitor.start({.process = ::getpid()});
    ASSERT_TRUE(started.ok()) << started.error().text();
    EXPECT_EQ(started->channels.back().kind, Kind::busy_ticks);
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300)) script.core(1);
    script.package(1'000'000);
    const auto epoch = monitor.read(started->session);
    ASSERT_TRUE(epoch->energies[0].process_share.has_value());
    EXPECT_GT(*epoch->energies[0].process_share, 0.0);
    EXPECT_LE(*epoch->energies[0].process_share, 1.0);
}

TEST(Monitor, AProcessIsLookedUpBelowTheRoot) {
    const Scripted script;  // its tree has no process
    Monitor monitor(script.meters(), {.root = script.tree.root()});
    EXPECT_FALSE(monitor.start({.process = ::getpid()}).ok());
    std::filesystem::create_symlink("/proc", script.tree.root() / "proc");
    EXPECT_TRUE(monitor.start({.process = ::getpid()}).ok());
}

TEST(Monitor, NobodyReadsMoreOftenThanTheShortestPeriod) {
    const Scripted script;
    Monitor monitor(script.meters(), {.shortest_period = Seconds(0.002)});
    const auto refused = monitor.start({.period = Seconds(0.0019)});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(
        refused.error().text(),
        "this monitor does not read every 1.9 ms, because fast readings of energy reveal what other "
        "programs compute. ask for 2 ms or more, or have the monitor started with --allow-fast-periods.");
    const std::int64_t begin = stamp_now().monotonic_ns;
    const auto started = monitor.start({.period = Seconds(0.002)});
    ASSERT_TRUE(started.ok()) << started.error().text();
    auto stream = monitor.stream(started->session);
    ASSERT_TRUE(stream.ok());
    // Three clients that ask as often as they can, beside the sampler's own thread.
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i)
        clients.emplace_back([&] {
            for (int n = 0; n < 50; ++n) EXPECT_TRUE(monitor.read(started->session).ok());
        });
    for (std::thread& client : clients) client.join();
    const auto samples = (*stream)->next();
    ASSERT_TRUE(samples.ok());
    const std::int64_t end = stamp_now().monotonic_ns;
    const auto readings =
        std::ranges::count(samples->samples, 0U, [](const Sample& sample) { return sample.channel; });
    EXPECT_GT(readings, 10);
    EXPECT_LE((readings - 1) * 2'000'000, end - begin);
}

TEST(Monitor, RequestsOutOfBoundsAreRefused) {
    const Scripted script;
    Monitor monitor(script.meters(), {.most_sessions = 2});
    const auto code = [&](const StartRequest& request) {
        const auto started = monitor.start(request);
        return started.ok() ? ErrorCode::broken_invariant : started.error().code;
    };
    EXPECT_EQ(code({.name = std::string(257, 'x')}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.process = -1}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.process = 2'000'000'000}), ErrorCode::missing_entry);
    for (const double bad : {-1.0, 1e-9, 1e9, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(code({.period = Seconds(bad)}), ErrorCode::invalid_argument);
        EXPECT_EQ(code({.lease = Seconds(bad)}), ErrorCode::invalid_argument);
    }
    EXPECT_EQ(monitor.sessions(), 0U);
    const auto one = monitor.start({}), two = monitor.start({});
    EXPECT_EQ(code({}), ErrorCode::limit_exceeded);
    EXPECT_TRUE(monitor.stop(one->session).ok());
    EXPECT_TRUE(monitor.start({}).ok());
    std::vector<std::unique_ptr<Monitor::Stream>> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(*monitor.stream(two->session));
    EXPECT_EQ(monitor.stream(two->session).error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace viridian::meter
