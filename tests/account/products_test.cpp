// SMARAGDINE's products: repetition, epochs, data flow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viridian/account/account.hpp"
#include "viridian/account/products/epochs.hpp"
#include "viridian/account/products/flows.hpp"
#include "viridian/account/products/repeated_runs.hpp"

namespace viridian::account {
namespace {

Accounting accounting_of(const std::vector<std::pair<std::string, double>>& energies,
                         std::string pass = "unknown") {
    Accounting out;
    for (const auto& [name, energy] : energies) {
        Operation operation;
        operation.name = name;
        operation.pass = pass;
        operation.seconds = Seconds(2);
        operation.energy = Energy{Joules(energy),
                                  Joules(energy),
                                  Joules(energy),
                                  {Provenance::Kind::derived, "overlap from measured:powercap"}};
        out.operations.push_back(operation);
    }
    return out;
}

TEST(Repeat, MeansAndDeviationsOfTheSample) {
    const RepeatedRuns got =
        repeated_runs({accounting_of({{"a", 1}, {"b", 10}}), accounting_of({{"a", 3}, {"b", 10}}),
                       accounting_of({{"b", 10}})});
    ASSERT_EQ(got.entries.size(), 2U);
    EXPECT_EQ(got.entries[0].name, "b");
    EXPECT_DOUBLE_EQ(got.entries[0].joules.deviation, 0.0);
    EXPECT_DOUBLE_EQ(got.entries[0].watts.mean, 5.0);
    EXPECT_DOUBLE_EQ(got.entries[1].joules.mean, 4.0 / 3);
    EXPECT_NEAR(got.entries[1].joules.deviation, std::sqrt(7.0 / 3), 1e-12);
    EXPECT_EQ(got.entries[1].runs, 2U);
    EXPECT_DOUBLE_EQ(got.entries[1].watts.mean, 1.0);  // where it ran
    EXPECT_EQ(got.provenance.kind, Provenance::Kind::derived);
}

TEST(Repeat, BackwardWorkIsALayerOfItsOwn) {
    Accounting run = accounting_of({{"bert/dense/MatMul", 2}}, "forward");
    for (Operation& operation :
         accounting_of({{"bert/dense/MatMul", 3}, {"gradients/bert/MatMul", 1}}, "backward").operations)
        run.operations.push_back(operation);
    const RepeatedRuns got = repeated_runs({run});
    ASSERT_EQ(got.entries.size(), 3U);
    EXPECT_EQ(got.entries[0].name, "gradient/bert/dense/MatMul");
    EXPECT_EQ(got.entries[2].name, "gradients/bert/MatMul");
    EXPECT_DOUBLE_EQ(got.forward.mean, 2);
    EXPECT_DOUBLE_EQ(got.backward.mean, 4);
    for (const Box& box : diagram(run))
        if (box.name == "bert") {
            EXPECT_DOUBLE_EQ(box.forward.value, 2);
            EXPECT_DOUBLE_EQ(box.backward.value, 3);
        }
}

TEST(Flows, NodesMeetNamesAndUnknownNodesHandOn) {
    const Accounting result = accounting_of({{"embed/Gather", 1},
                                             {"encoder/layer/0/aten::matmul", 1},
                                             {"encoder/layer/1/aten::matmul", 1},
                                             {"pool/Tanh", 1}});
    const auto flows = match_flows({{"/embed/Gather", "/embed/Cast", 1},
                                    {"/embed/Cast", "/Shape", 1},  // neither the trace nor a layer of it
                                    {"/Shape", "/encoder/layer.0/MatMul", 1},
                                    {"/encoder/layer.0/MatMul", "/encoder/layer.1/MatMul", 1},
                                    {"/encoder/layer.1/MatMul", "/pool/Tanh", 1}},
                                   result);
    std::vector<std::string> got;
    for (const Flow& flow : flows) got.push_back(flow.from + " -> " + flow.to);
    EXPECT_THAT(got, testing::UnorderedElementsAre("embed/Gather -> embed", "embed -> encoder/layer/0",
                                                   "encoder/layer/0 -> encoder/layer/1",
                                                   "encoder/layer/1 -> pool/Tanh"));
}

// Ten epochs of 100 ms; the first layer draws 50 W in the first 40 ms, the second 150 W until 80 ms.
struct Epochal {
    trace::Trace about;
    std::vector<trace::Event> events;
    meter::PowerLog log;
    static constexpr Nanoseconds origin = 1'700'000'000'000'000'000, ms = 1'000'000;

    void add(const std::string& name, std::string_view path, Nanoseconds start, Nanoseconds end,
             trace::Kind kind) {
        trace::Event event;
        event.start = origin + start;
        event.end = origin + end;
        event.name = event.type = about.names.add(name);
        event.path = about.paths.add(0, path, about.names, '/');
        event.device = about.device("cpu:0");
        event.lane = about.lane(event.device, 1, 1);
        event.kind = kind;
        events.push_back(event);
    }
    Epochal() {
        log.series.push_back({{"powercap", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, 0}, {}});
        for (int i = 0; i < 10; ++i) {
            const Nanoseconds at = i * 100 * ms;
            add("epoch_" + std::to_string(i), "", at, at + 100 * ms, trace::Kind::scope);
            add("MatMul", "net/layer_0/MatMul", at, at + 40 * ms, trace::Kind::operation);
            add("MatMul", "net/layer_1/MatMul", at + 40 * ms, at + 80 * ms, trace::Kind::operation);
        }
        std::int64_t energy = 0;
        for (int i = 0; i <= 250; ++i) {
            log.series[0].readings.push_back({origin + i * 4 * ms, energy, 0});
            const int phase = i * 4 % 100;
            energy += 4'000 * (phase < 40 ? 50 : phase < 80 ? 150 : 10);
        }
    }
    std::unique_ptr<trace::Source> source() const { return trace::from_memory(about, events); }
};

TEST(Epochs, PowerByElapsedTimeAndBlock) {
    const Epochal made;
    const auto found = outline(*made.source());
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->bounds, "epoch");
    EXPECT_EQ(found->epochs.size(), 10U);
    EXPECT_EQ(found->block, "net/layer_*");
    EXPECT_EQ(found->first, "net/layer_0");
    const auto powers = epoch_power(*made.source(), made.log, *found);
    ASSERT_TRUE(powers.ok()) << powers.error().text();
    ASSERT_EQ(powers->size(), 1U);
    const EpochPower& power = powers->front();
    ASSERT_EQ(power.points.size(), 25U);
    EXPECT_NEAR(power.length.value, 0.1, 1e-9);
    for (const EpochPoint& point : power.points) {
        const bool first = point.elapsed.value < 0.04, other = !first && point.elapsed.value < 0.08;
        EXPECT_NEAR(point.mean.value, first ? 50 : other ? 150 : 10, 1e-9) << point.elapsed.value;
        EXPECT_NEAR(point.deviation.value, 0, 1e-9);
        EXPECT_NEAR(point.first, first ? 1 : 0, 1e-12);
        EXPECT_NEAR(point.other, other ? 1 : 0, 1e-12);
        EXPECT_EQ(point.epochs, 10U);
    }
}

// Twelve iterations of 10 ms as PyTorch's profiler sees them: the optimizer takes 1 ms at the end of each.
Epochal iterations() {
    Epochal made;
    made.events.clear();
    for (int i = 0; i < 12; ++i) {
        const Nanoseconds at = i * 10 * Epochal::ms;
        made.add("aten::mm", "net/aten::mm", at, at + 8 * Epochal::ms, trace::Kind::operation);
        made.add("Net_0", "", at, at + 8 * Epochal::ms, trace::Kind::module);
        made.add("Optimizer.zero_grad#SGD.zero_grad", "", at, at + Epochal::ms / 2, trace::Kind::scope);
        made.add("Optimizer.step#SGD.step", "", at + 9 * Epochal::ms, at + 10 * Epochal::ms,
                 trace::Kind::scope);
    }
    return made;
}

TEST(Epochs, AStepReachesFromOneOptimizerStepToTheNext) {
    const Epochal made = iterations();
    for (const char* wanted : {"", "Optimizer.step#SGD.step"}) {
        const auto found = outline(*made.source(), wanted);
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(found->period, Period::step);
        EXPECT_EQ(found->bounds, "Optimizer.step#SGD.step");
        ASSERT_EQ(found->epochs.size(), 11U);
        EXPECT_EQ(found->epochs[0].begin, Epochal::origin + 10 * Epochal::ms);
        EXPECT_EQ(found->epochs[0].end, Epochal::origin + 20 * Epochal::ms);
    }
}

TEST(Epochs, MarksOfEpochsComeFirstThenMarksOfSteps) {
    Epochal made = iterations();
    for (int i = 0; i < 12; ++i)
        made.add("ProfilerStep#" + std::to_string(i), "", i * 10 * Epochal::ms, (i + 1) * 10 * Epochal::ms,
                 trace::Kind::scope);
    auto found = outline(*made.source());
    EXPECT_EQ(found->bounds, "ProfilerStep");
    EXPECT_EQ(found->period, Period::step);
    EXPECT_EQ(found->epochs.size(), 12U);
    for (int i = 0; i < 2; ++i)
        made.add("Epoch " + std::to_string(i), "", i * 60 * Epochal::ms, (i + 1) * 60 * Epochal::ms,
                 trace::Kind::scope);
    found = outline(*made.source());
    EXPECT_EQ(found->bounds, "Epoch");
    EXPECT_EQ(found->period, Period::epoch);
    EXPECT_EQ(found->epochs.size(), 2U);
}

TEST(Epochs, BoundsFromOutsideAndNothingThatRepeats) {
    const auto parsed = parse_epochs("begin_ns,end_ns\n10,20\r\n20,30\n", "e");
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->size(), 2U);
    for (const char* bad : {"10\n", "20,10\n", "10,20\n15,30\n", "a,b\n", "10,20,30\n"})
        EXPECT_EQ(parse_epochs(bad, "e").error().code, ErrorCode::malformed) << bad;
    const Epochal made;
    const auto none = outline(*made.source(), "step");
    ASSERT_TRUE(none.ok());
    EXPECT_TRUE(none->epochs.empty());
    EXPECT_EQ(epoch_power(*made.source(), made.log, *none).error().code, ErrorCode::missing_entry);
}

}  // namespace
}  // namespace viridian::account
