#include "viridian/cli/train/layer_joules.hpp"

#include <gtest/gtest.h>

namespace viridian::cli {
namespace {

Energy joules(double value, double low, double high) {
    return {Joules(value), Joules(low), Joules(high), {Provenance::Kind::derived, "overlap from a meter"}};
}

account::Operation operation(const char* name, const char* pass, const Energy& energy) {
    account::Operation made;
    made.name = name;
    made.pass = pass;
    made.device = "cpu:0";
    made.energy = energy;
    return made;
}

// Two epochs of a slow meter: each kernel may have had nearly all that the meter counted.
TEST(LayerJoules, NoIntervalReachesBeyondTheMeter) {
    AccountedSteps some;
    some.steps = 2;
    for (const char* name : {"one", "two"})
        for (const char* pass : {"forward", "backward", "weight", "update"})
            some.accounting_of.operations.push_back(operation(name, pass, joules(1, 0, 9)));
    account::Device device;
    device.name = "cpu:0";
    device.method = "overlap";
    device.meter_total = joules(10, 9.5, 10.5);
    some.accounting_of.devices.push_back(device);
    const StepJoules each = step_joules({some, some});
    ASSERT_EQ(each.steps, 4);
    ASSERT_EQ(each.layers.size(), 2U);
    for (const LayerJoules& layer : each.layers) {
        EXPECT_DOUBLE_EQ(layer.joules.all->value.value, 2);
        EXPECT_DOUBLE_EQ(layer.joules.all->high.value, 21.0 / 4) << "the meter counted at most 21 J";
        EXPECT_DOUBLE_EQ(layer.joules.forward->high.value, 18.0 / 4) << "less than that is kept";
        EXPECT_DOUBLE_EQ(layer.joules.backward->high.value, 21.0 / 4);
        EXPECT_LE(layer.joules.all->high, each.each.all->high);
    }
    EXPECT_DOUBLE_EQ(each.each.all->high.value, 21.0 / 4);
}

// What other processes took is a part of what the meters counted, and nothing says how large its error is.
TEST(LayerJoules, TheBooksOfAStepAddUp) {
    AccountedSteps some;
    some.steps = 2;
    some.accounting_of.operations = {operation("one", "forward", joules(3, 0, 9))};
    for (const char* name : {"cpu:0", "cpu:1"}) {
        account::Device device;
        device.name = name;
        device.method = "overlap";
        device.meter_total = joules(5, 4, 6);
        device.idle = joules(2.5, 1, 4);
        device.unattributed = joules(1, 0, 2);
        device.residual = joules(0, 0, 0);
        device.others = Joules(4);
        some.accounting_of.devices.push_back(device);
    }
    const StepJoules each = step_joules({some});
    ASSERT_TRUE(each.books_of_step);
    const StepBooks& books = *each.books_of_step;
    EXPECT_DOUBLE_EQ(books.all.value.value, 9);
    EXPECT_DOUBLE_EQ(books.all.low.value, 8);
    EXPECT_DOUBLE_EQ(books.all.high.value, 10);
    EXPECT_DOUBLE_EQ(books.idle.value.value, 2.5);
    EXPECT_DOUBLE_EQ(books.unattributed.high.value, 2);
    EXPECT_DOUBLE_EQ(books.others.value.value, 4);
    EXPECT_EQ(books.others.low, Joules(0));
    EXPECT_EQ(books.others.high, books.all.high);
    EXPECT_DOUBLE_EQ(each.each.all->value.value + books.idle.value.value + books.unattributed.value.value +
                         books.residual.value.value + books.others.value.value,
                     books.all.value.value);
    some.accounting_of.devices[0].others = some.accounting_of.devices[1].others = Joules(0);
    EXPECT_EQ(step_joules({some}).books_of_step->others.value, Joules(0));
}

// A figure that lies above the meter's total keeps an interval that holds it.
TEST(LayerJoules, AnIntervalHoldsItsFigure) {
    AccountedSteps some;
    some.steps = 1;
    some.accounting_of.operations = {operation("one", "forward", joules(3, 0, 9))};
    account::Device device;
    device.name = "cpu:0";
    device.meter_total = joules(2, 2, 2);
    some.accounting_of.devices.push_back(device);
    EXPECT_DOUBLE_EQ(step_joules({some}).layers[0].joules.all->high.value, 3);
}

}  // namespace
}  // namespace viridian::cli
