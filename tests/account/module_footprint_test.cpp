// Energy by module, class and operator.
#include "viridian/account/products/module_footprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viridian/account/products/footprint.hpp"
#include "viridian/base/json.hpp"

namespace viridian::account {
namespace {

using testing::ElementsAre;

Operation operation(std::string name, std::string type, std::string pass, double joules) {
    Operation one;
    one.name = std::move(name);
    one.type = std::move(type);
    one.pass = std::move(pass);
    one.count = 2;
    one.seconds = Seconds(1);
    one.energy = Energy{Joules(joules), Joules(joules / 2), Joules(2 * joules), {}};
    return one;
}

// A network of a stem and two blocks, one of them checkpointed, a loss, and an optimizer.
Accounting trained() {
    const std::string node = "autograd::engine::evaluate_function: ConvolutionBackward0";
    Accounting out;
    out.modules = {{"Net", "Net", 5},
                   {"Net/stem", "Conv2d", 5},
                   {"Net/blocks/0", "Block", 5},
                   {"Net/blocks/0/conv", "Conv2d", 5},
                   {"Net/blocks/0/skip", "Identity", 5},
                   {"Net/blocks/1", "Block", 5, 5},
                   {"Net/blocks/1/conv", "Conv2d", 5, 5},
                   {"Loss", "Loss", 5}};
    out.operations = {operation("Net/aten::mean", "aten::mean", "forward", 1),
                      operation("Net/stem/aten::conv2d/aten::mkldnn", "aten::mkldnn", "forward", 2),
                      operation("Net/stem/" + node, node, "backward", 4),
                      operation("Net/blocks/0/aten::add", "aten::add", "forward", 8),
                      operation("Net/blocks/0/conv/aten::mkldnn", "aten::mkldnn", "forward", 16),
                      operation("Net/blocks/1/conv/aten::mkldnn", "aten::mkldnn", "forward", 32),
                      operation("Net/blocks/1/conv/aten::mkldnn", "aten::mkldnn", "recompute", 64),
                      operation("Loss/aten::nll_loss", "aten::nll_loss", "forward", 128),
                      operation("Optimizer.step#SGD.step/aten::add", "aten::add", "update", 256),
                      operation("aten::randn", "aten::randn", "", 512),
                      operation("Network/aten::zeros", "aten::zeros", "forward", 1024)};
    out.operations.push_back(out.operations[0]);
    out.operations.back().energy.reset();  // of a device without a meter
    return out;
}

std::vector<std::string> lines(const std::vector<GroupRow>& rows) {
    std::vector<std::string> out;
    double total = 0.0;
    for (const GroupRow& row : rows) {
        out.push_back(fmt::format("{} {} {}{} J x{}", row.name, row.type, row.own ? "itself " : "",
                                  row.energy.value, row.calls));
        const PassJoules& passes = row.passes;
        EXPECT_DOUBLE_EQ(
            row.energy.value,
            (passes.forward + passes.backward + passes.recompute + passes.optimizer + passes.unknown).value);
        EXPECT_DOUBLE_EQ(row.low.value, row.energy.value / 2);
        EXPECT_DOUBLE_EQ(row.high.value, row.energy.value * 2);
        total += row.energy.value;
    }
    EXPECT_DOUBLE_EQ(total, 2047.0);  // no joule is lost or counted twice
    return out;
}

// Each of a module's operations may have taken most of the meter's total, and the module no more than that.
TEST(ModuleFootprint, NoModuleTakesMoreThanItsDevicesMetersTotal) {
    Accounting of;
    of.modules = {{"Net", "Net", 1}};
    for (const char* device : {"cpu:0", "cuda:0", "unknown"}) {
        for (int i = 0; i < 3; ++i) {
            of.operations.push_back(operation(fmt::format("Net/aten::{}", i), "aten::add", "forward", 1));
            of.operations.back().device = device;
        }
    }
    of.devices.resize(2);
    of.devices[0].name = "cpu:0";
    of.devices[0].meter_total = {Joules(4), Joules(2), Joules(5), {}};
    of.devices[1].name = "cuda:0";
    of.devices[1].meter_total = {Joules(40), Joules(30), Joules(50), {}};
    const auto rows = module_footprint(of, GroupBy::module);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].energy, Joules(9));
    EXPECT_EQ(rows[0].high, Joules(5 + 6 + 6));
    const auto names = summarized_footprint(of);
    ASSERT_EQ(names.size(), 3U);
    for (const FootprintRow& row : names) EXPECT_EQ(row.high, Joules(2 + 2 + 2));
}

TEST(ModuleFootprint, EveryJouleIsInTheInnermostModule) {
    const auto rows = module_footprint(trained(), GroupBy::module);
    EXPECT_THAT(lines(rows),
                ElementsAre("(outside modules)  1536 J x0", "(optimizer)  256 J x0", "Loss Loss 128 J x5",
                            "blocks.1.conv Conv2d 96 J x10", "blocks.0.conv Conv2d 16 J x5",
                            "blocks.0 Block itself 8 J x5", "stem Conv2d 6 J x5", "Net Net itself 1 J x5",
                            "blocks.0.skip Identity 0 J x5"));
    EXPECT_DOUBLE_EQ(rows[3].passes.recompute.value, 64.0);
    EXPECT_DOUBLE_EQ(rows[6].passes.backward.value, 4.0);
}

TEST(ModuleFootprint, ModulesBelowTheDepthAreInTheModuleAbove) {
    EXPECT_THAT(lines(module_footprint(trained(), GroupBy::module, 1)),
                ElementsAre("(outside modules)  1536 J x0", "(optimizer)  256 J x0", "Loss Loss 128 J x5",
                            "blocks.1 Block 96 J x10", "blocks.0 Block 24 J x5", "stem Conv2d 6 J x5",
                            "Net Net itself 1 J x5"));
    EXPECT_THAT(lines(module_footprint(trained(), GroupBy::module, 0)),
                ElementsAre("(outside modules)  1536 J x0", "(optimizer)  256 J x0", "Loss Loss 128 J x5",
                            "Net Net 127 J x5"));
}

TEST(ModuleFootprint, TwoModelsKeepTheirNames) {
    Accounting both = trained();
    both.modules.push_back({"Critic", "Net", 5});
    both.modules.push_back({"Critic/stem", "Conv2d", 5});
    const auto rows = lines(module_footprint(both, GroupBy::module));
    EXPECT_THAT(rows, testing::Contains("Net.stem Conv2d 6 J x5"));
    EXPECT_THAT(rows, testing::Contains("Critic.stem Conv2d 0 J x5"));
}

TEST(ModuleFootprint, ByClassAndByOperator) {
    EXPECT_THAT(lines(module_footprint(trained(), GroupBy::type)),
                ElementsAre("(outside modules)  1536 J x0", "(optimizer)  256 J x0", "Loss Loss 128 J x5",
                            "Conv2d Conv2d 118 J x20", "Block Block 8 J x15", "Net Net 1 J x5"));
    EXPECT_THAT(lines(module_footprint(trained(), GroupBy::op)),
                ElementsAre("aten::zeros  1024 J x2", "aten::randn  512 J x2", "aten::add  264 J x4",
                            "aten::nll_loss  128 J x2", "aten::mkldnn  114 J x8",
                            "ConvolutionBackward0  4 J x2", "aten::mean  1 J x2"));
}

TEST(ModuleFootprint, ProcessesAddUpAndKeepTheirShares) {
    Accounting both = trained();
    both.processes = {"rank 0", "rank 1"};
    const Accounting one = both;
    for (Module& module : both.modules) module.process = "rank 0";
    for (Operation& operation : both.operations) operation.process = "rank 0";
    for (Module module : one.modules) {
        module.process = "rank 1";
        both.modules.push_back(module);
    }
    for (Operation operation : one.operations) {
        operation.process = "rank 1";
        if (operation.energy) *operation.energy += *operation.energy;
        both.operations.push_back(operation);
    }
    for (const GroupBy by : {GroupBy::module, GroupBy::type, GroupBy::op})
        for (const Accounting& accounting : {both, *accounting_from_json(to_json(both), "test")}) {
            const auto rows = module_footprint(accounting, by), alone = module_footprint(trained(), by);
            ASSERT_EQ(rows.size(), alone.size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                EXPECT_EQ(rows[i].name, alone[i].name);
                EXPECT_EQ(rows[i].calls, 2 * alone[i].calls);
                EXPECT_DOUBLE_EQ(rows[i].energy.value, 3 * alone[i].energy.value);
                ASSERT_EQ(rows[i].by_process.size(), 2U);
                EXPECT_DOUBLE_EQ(rows[i].by_process[0].value, alone[i].energy.value);
                EXPECT_DOUBLE_EQ(rows[i].by_process[1].value, 2 * alone[i].energy.value);
            }
        }
}

TEST(ModuleFootprint, ModulesSurviveTheResultFile) {
    const Accounting before = trained();
    const auto after = accounting_from_json(to_json(before), "test");
    ASSERT_TRUE(after.ok()) << after.error().text();
    ASSERT_EQ(after->modules.size(), before.modules.size());
    EXPECT_EQ(after->modules[5].name, "Net/blocks/1");
    EXPECT_EQ(after->modules[5].type, "Block");
    EXPECT_EQ(after->modules[5].calls, 5U);
    EXPECT_EQ(after->modules[5].recomputed, 5U);
}

}  // namespace
}  // namespace viridian::account
