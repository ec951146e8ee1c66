#include "viridian/cost/energy_model.hpp"

#include <gtest/gtest.h>

namespace viridian::cost {
namespace {

TEST(EnergyModel, AddsStaticBusyAndTraffic) {
    EnergyModel model;
    model.machine_cores = 2;
    const Energy idle_core = model.estimate(Seconds(1), 1, InstructionClass::vector, Bytes(0));
    EXPECT_NEAR(idle_core.value.value, 2 * 0.74 + 2.76, 1e-12);
    const Energy busy = model.estimate(Seconds(1), 2, InstructionClass::vector, Bytes(8'000'000'000));
    EXPECT_NEAR(busy.value.value, 2 * 3.5 + 1.95, 1e-9);
    EXPECT_LT(busy.low, busy.value);
    EXPECT_GT(busy.high, busy.value);
    EXPECT_EQ(busy.provenance.text(), "estimated:cpu-linear");
}

// One of four cores works: `whole` charges it with the static power of all, `share` with its own.
TEST(EnergyModel, IdlePowerSaysWhoseStaticPowerCounts) {
    EnergyModel model;
    model.machine_cores = 4;
    const auto watts = [&](IdlePower idle, double busy) {
        model.idle = idle;
        return model.estimate(Seconds(1), busy, InstructionClass::vector, Bytes(0)).value.value;
    };
    EXPECT_NEAR(watts(IdlePower::whole, 1), 4 * 0.74 + 2.76, 1e-12);
    EXPECT_NEAR(watts(IdlePower::share, 1), 0.74 + 2.76, 1e-12);
    EXPECT_NEAR(watts(IdlePower::share, 1.5), 1.5 * (0.74 + 2.76), 1e-12);
    EXPECT_NEAR(watts(IdlePower::whole, 4), watts(IdlePower::share, 4), 1e-12);
}

}  // namespace
}  // namespace viridian::cost
