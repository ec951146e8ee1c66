#include <gtest/gtest.h>

#include <set>

#include "viridian/base/energy.hpp"
#include "viridian/base/hash.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/random.hpp"
#include "viridian/base/system/machine.hpp"

namespace viridian {
namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return fail(ErrorCode::invalid_argument, "give an even one", "{} is odd", number);
    return number / 2;
}

Result<int> quarter(int number) {
    VIRIDIAN_TRY(const int once, half(number));
    VIRIDIAN_TRY(const int twice, half(once));
    return twice;
}

TEST(Result, PropagatesTheFirstError) {
    EXPECT_EQ(quarter(12).value(), 3);
    EXPECT_EQ(quarter(6).error().text(), "3 is odd. give an even one.");
    EXPECT_EQ(std::move(quarter(6)).error().within("while halving").message, "while halving: 3 is odd");
}

TEST(Units, MultiplyAndDivide) {
    EXPECT_EQ(Watts(3) * Seconds(2), Joules(6));
    EXPECT_EQ(Joules(6) / Seconds(2), Watts(3));
    EXPECT_DOUBLE_EQ(Seconds(1) / Seconds(4), 0.25);
}

TEST(Energy, ASumIsAsWeakAsItsWeakestPart) {
    Energy sum{Joules(1), Joules(0.9), Joules(1.1), {Provenance::Kind::measured, "powercap"}};
    sum += Energy{Joules(2), Joules(1), Joules(3), {Provenance::Kind::estimated, "cpu-linear"}};
    EXPECT_EQ(sum.provenance.text(), "estimated:cpu-linear");
    EXPECT_DOUBLE_EQ(sum.high.value, 4.1);
    EXPECT_EQ(energy_from_json(to_json(sum))->provenance, sum.provenance);
    EXPECT_FALSE(energy_from_json(Json{{"value", 1}, {"low", 1}, {"high", 1}}).ok());
}

TEST(Random, IsTheSameEverywhereAndUniform) {
    Random random(1);
    EXPECT_EQ(random.next(), 12966619160104079557U);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
    EXPECT_EQ(seen.size(), 7U);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < 100000; ++i) {
        const double x = random.normal();
        sum += x;
        squares += x * x;
    }
    EXPECT_NEAR(sum / 100000, 0, 0.02);
    EXPECT_NEAR(squares / 100000, 1, 0.02);
}

TEST(Hash, SeesOrderAndLength) {
    EXPECT_NE(Hash().add("ab").add("c").value(), Hash().add("a").add("bc").value());
    EXPECT_NE(Hash().add(1U).add(2U).value(), Hash().add(2U).add(1U).value());
    EXPECT_EQ(Hash().add("abc").value(), Hash().add("abc").value());
}

TEST(Machine, HasACoreAndAFingerprint) {
    const Machine machine = this_machine();
    EXPECT_GE(machine.physical_cores, 1);
    EXPECT_EQ(machine.fingerprint(), this_machine().fingerprint());
    const auto cpus = physical_cpus();
    ASSERT_FALSE(cpus.empty());
    ASSERT_TRUE(pin_thread(cpus.back()).ok());
    EXPECT_EQ(physical_cpus(), cpus);  // pinning one thread does not shrink the machine
}

}  // namespace
}  // namespace viridian
