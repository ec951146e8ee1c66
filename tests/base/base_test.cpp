#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "viridian/base/energy.hpp"
#include "viridian/base/hash.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/random.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/base/system/peak_memory.hpp"
#include "viridian/base/units_text.hpp"

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

TEST(UnitsText, CountsHaveTheirPlural) {
    EXPECT_EQ(counted(1, "stage"), "1 stage");
    EXPECT_EQ(counted(0, "stage"), "0 stages");
    EXPECT_EQ(counted(12, "stage"), "12 stages");
    EXPECT_EQ(counted(~std::uint64_t{0}, "event"), "18446744073709551615 events");
    EXPECT_EQ(counted(1, "micro-batch", "micro-batches"), "1 micro-batch");
    EXPECT_EQ(counted(2, "micro-batch", "micro-batches"), "2 micro-batches");
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

TEST(PeakMemory, GrowsByWhatIsTouchedAndStays) {
    const Bytes before = peak_memory();
    {
        const std::vector<char> touched(std::size_t{1} << 26, 'x');
        EXPECT_EQ(touched.back(), 'x');
    }
    const Bytes after = peak_memory();
    EXPECT_GT(before.value, 0);
    EXPECT_GE(after.value, std::int64_t{1} << 26);
    EXPECT_GE(after.value, before.value);
}

TEST(Energy, ASumIsAsWeakAsItsWeakestPart) {
    Energy sum{Joules(1), Joules(0.9), Joules(1.1), {Provenance::Kind::measured, "powercap"}};
    sum += Energy{Joules(2), Joules(1), Joules(3), {Provenance::Kind::estimated, "cpu-linear"}};
    EXPECT_EQ(sum.provenance.text(), "estimated:cpu-linear");
    EXPECT_DOUBLE_EQ(sum.high.value, 4.1);
    EXPECT_EQ(energy_from_json(to_json(sum))->provenance, sum.provenance);
    EXPECT_FALSE(energy_from_json(Json{{"value", 1}, {"low", 1}, {"high", 1}}).ok());
}

TEST(Energy, AModelsErrorWidensBothEndsWhateverTheirSign) {
    const Provenance model{Provenance::Kind::estimated, "model"};
    const Energy crossing = with_model_error({Joules(1), Joules(-4), Joules(3), model});
    EXPECT_DOUBLE_EQ(crossing.low.value, -8);
    EXPECT_DOUBLE_EQ(crossing.high.value, 6);
    const Energy below = with_model_error({Joules(-3), Joules(-4), Joules(-2), model});
    EXPECT_DOUBLE_EQ(below.low.value, -8);
    EXPECT_DOUBLE_EQ(below.high.value, -1);
    const Energy above = with_model_error({Joules(3), Joules(2), Joules(4), model});
    EXPECT_DOUBLE_EQ(above.low.value, 1);
    EXPECT_DOUBLE_EQ(above.high.value, 8);
    const Energy measured =
        with_model_error({Joules(3), Joules(2), Joules(4), {Provenance::Kind::measured, "m"}});
    EXPECT_DOUBLE_EQ(measured.high.value, 4);
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
