// A plan that spends more than 5 % of its time on reference kernels says so, and what to do.
#include "viridian/optimize/reference_share.hpp"

#include <gmock/gmock.h>

namespace viridian::optimize {
namespace {

PlannedModel three_steps() {
    PlannedModel planned;
    planned.plan.steps.resize(3);
    for (plan::Step& step : planned.plan.steps) step.choice.variant.algorithm = plan::Algorithm::direct;
    planned.plan.steps[1].choice.variant.algorithm = plan::Algorithm::reference;
    return planned;
}

TEST(ReferenceShare, IsSaidAboveFivePercent) {
    const auto note = reference_share_note(three_steps(), {0.03, 0.06, 0.01});
    ASSERT_TRUE(note);
    EXPECT_THAT(*note, testing::HasSubstr("1 of 3 steps"));
    EXPECT_THAT(*note, testing::HasSubstr("60 % of the time"));
    EXPECT_THAT(*note, testing::HasSubstr("--as f32"));
}

TEST(ReferenceShare, IsNotSaidBelow) { EXPECT_FALSE(reference_share_note(three_steps(), {0.5, 0.04, 0.46})); }

// A conversion runs no kernel of a region, whatever its choice holds.
TEST(ReferenceShare, DoesNotCountConversions) {
    PlannedModel planned = three_steps();
    planned.plan.steps[1].kind = plan::Step::Kind::conversion;
    EXPECT_FALSE(reference_share_note(planned, {0.03, 0.06, 0.01}));
}

}  // namespace
}  // namespace viridian::optimize
