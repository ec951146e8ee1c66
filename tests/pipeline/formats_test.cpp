#include "viridian/pipeline/formats/formats.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/linear_program.hpp"
#include "tests/pipeline/pipelines.hpp"
#include "viridian/pipeline/formats/megatron_layout.hpp"

namespace viridian::pipeline {
namespace {

PlanFile clocked(Schedule schedule) {
    PlanFile plan = plan_of(std::move(schedule));
    for (std::size_t u = 0; u < plan.clock.size(); ++u)
        plan.clock[u] = Hertz((900 + 30 * static_cast<double>(u % 7)) * 1e6);
    return plan;
}

void expect_round_trip(std::string_view format, const PlanFile& plan, bool clocks) {
    const auto row = find_format(format);
    ASSERT_TRUE(row.ok());
    const auto written = row->write(plan);
    ASSERT_TRUE(written.ok()) << format << ": " << written.error().text();
    const auto read = row->read(written->text, "x");
    ASSERT_TRUE(read.ok()) << format << ": " << read.error().text();
    EXPECT_EQ(read->plan.schedule.ranks, plan.schedule.ranks) << format << "\n" << written->text;
    EXPECT_EQ(read->plan.schedule.stages, plan.schedule.stages);
    EXPECT_EQ(read->plan.schedule.micro_batches, plan.schedule.micro_batches);
    EXPECT_EQ(read->plan.schedule.split_backward, plan.schedule.split_backward);
    if (clocks) {
        EXPECT_EQ(read->plan.clock, plan.clock);
    }
    EXPECT_EQ(written->lost.empty(), clocks) << format;
    const auto again = row->write(read->plan);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->text, written->text);
}

TEST(Formats, OneFOneBGoesRoundThroughEveryFormat) {
    for (const char* format : {"json", "zeus", "deepspeed"})
        expect_round_trip(format, clocked(one_f_one_b(4, 8)), true);
    for (const char* format : {"pytorch", "megatron-order"})
        expect_round_trip(format, clocked(one_f_one_b(4, 8)), false);
}

TEST(Formats, OtherSchedulesGoWhereTheyFit) {
    expect_round_trip("pytorch", clocked(zero_bubble_h1(4, 8)), false);
    expect_round_trip("pytorch", clocked(zero_bubble_v(3, 8).value()), false);
    expect_round_trip("pytorch", clocked(interleaved(4, 2, 8).value()), false);
    expect_round_trip("megatron-order", clocked(interleaved(4, 2, 8).value()), false);
    expect_round_trip("zeus", clocked(zero_bubble_h2(4, 8)), true);
    expect_round_trip("json", clocked(dual_pipe(4, 8).value()), true);
    EXPECT_FALSE(write_zeus_plan(clocked(interleaved(4, 2, 8).value())).ok());
    EXPECT_FALSE(write_deepspeed(clocked(zero_bubble_h1(4, 8))).ok());
    EXPECT_FALSE(write_pytorch_csv(clocked(chimera(4, 4).value())).ok());
    EXPECT_FALSE(write_zeus_plan(plan_of(one_f_one_b(2, 2))).ok());  // no clocks
}

TEST(Formats, PytorchCellsAsTorchWritesThem) {
    const auto read =
        read_pytorch_csv("0F0,,0F1,(1F0;0I0)OVERLAP_F_B,0W0,0UNSHARD,0SEND_F0,0B1\n2F0\n", "s.csv");
    ASSERT_TRUE(read.ok()) << read.error().text();
    const auto& rank = read->plan.schedule.ranks[0];
    ASSERT_EQ(rank.size(), 7U);
    EXPECT_EQ(rank[2], (Unit{1, 0, Kind::forward, true}));
    EXPECT_EQ(rank[5], (Unit{0, 1, Kind::backward, true}));  // a whole backward: joined to its weight unit
    EXPECT_EQ(rank[6], (Unit{0, 1, Kind::weight}));
    EXPECT_EQ(read->dropped.size(), 1U);
    EXPECT_EQ(write_pytorch_csv(read->plan)->text, "0F0,0F1,(1F0;0I0)OVERLAP_F_B,0W0,0B1\n2F0\n");
}

TEST(Formats, ZeusPlansOfBothAges) {
    const auto named = read_zeus_plan(
        "# made by a profile\n[[('forward', 1410), (\"backward\", 1260),],\n [('forward', 990), ('backward', "
        "1000)]]\n# cost 3\n",
        "p");
    ASSERT_TRUE(named.ok()) << named.error().text();
    EXPECT_EQ(named->plan.clock[1], Hertz(1260e6));
    const auto bare = read_zeus_plan("[\n[1410, 1200, 1000, 990],\n[1, 2, 3, 4],\n]\n", "p");
    ASSERT_TRUE(bare.ok()) << bare.error().text();
    EXPECT_EQ(bare->plan.schedule.ranks, one_f_one_b(2, 2).ranks);
}

TEST(Formats, MegatronLayouts) {
    const auto stages = read_megatron_layout("Et*2|(t*2|)*34,t*2|mL");
    ASSERT_TRUE(stages.ok());
    EXPECT_EQ(stages->size(), 37U);
    EXPECT_EQ(stages->front(), "Ett");
    EXPECT_EQ(stages->back(), "mL");
    EXPECT_EQ(write_megatron_layout(*stages), "Et*2|(t*2|)*35mL");
    EXPECT_EQ(*read_megatron_layout(write_megatron_layout(*stages)), *stages);
    Random random(4);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<std::string> list(random.below(6) + 1);
        for (std::string& stage : list)
            for (std::uint64_t i = random.below(4); i > 0; --i) stage += "EtmL"[random.below(4)];
        const auto again = read_megatron_layout(write_megatron_layout(list));
        ASSERT_TRUE(again.ok());
        EXPECT_EQ(*again, list) << write_megatron_layout(list);
    }
    EXPECT_FALSE(read_megatron_layout("(t*2|").ok());
    EXPECT_FALSE(read_megatron_layout("t)").ok());
    EXPECT_FALSE(read_megatron_layout("x").ok());
    EXPECT_EQ(read_megatron_layout("((t*9999)*9999)*9999").error().code, ErrorCode::limit_exceeded);
}

TEST(Formats, RejectsSayWhatAndWhere) {
    EXPECT_EQ(read_pytorch_csv("0F0,0X1\n", "s").error().message, "`s`, line 1: `0X1` is not an action");
    EXPECT_EQ(read_pytorch_csv("0F99999999999\n", "s").error().message,
              "`s`, line 1: `0F99999999999` is not an action");
    EXPECT_EQ(read_pytorch_csv("", "s").error().message, "`s` holds no action");
    EXPECT_EQ(read_zeus_plan("[[('forward', __import__('os'))]]", "s").error().message,
              "`s`, line 1: a clock in MHz expected");
    EXPECT_EQ(read_zeus_plan("[[('forward', 1)]", "s").error().message, "`s`, line 1: `]` expected");
    EXPECT_EQ(read_megatron_order("1 0\n", "s").error().message, "`s`, line 1: `0` is not a chunk");
    EXPECT_EQ(read_deepspeed("rank 0:\nfly()\n", "s").error().message,
              "`s`, line 2: unknown instruction `fly`");
    EXPECT_EQ(read_deepspeed("ForwardPass(buffer_id=0)\n", "s").error().message,
              "`s`, line 1: an instruction before `rank 0:`");
    EXPECT_EQ(read_json("{}", "s").error().code, ErrorCode::mismatch);
}

// Any change of a few bytes gives a plan or an error, never a crash; what is read is then verified like any
// other.
TEST(Formats, TenThousandMutatedInputs) {
    Random random(99);
    std::vector<std::pair<FormatRow, std::string>> seeds;
    for (const FormatRow& row : formats())
        seeds.emplace_back(row, row.write(clocked(one_f_one_b(3, 4)))->text);
    const Profile profile = tests::v100_profile(3);
    int read_well = 0;
    for (int trial = 0; trial < 10'000; ++trial) {
        const auto& [row, text] = seeds[random.below(seeds.size())];
        std::string mutant = text;
        for (std::uint64_t i = random.between(1, 4); i > 0; --i) {
            const std::size_t place = random.below(mutant.size());
            switch (random.below(3)) {
                case 0:
                    mutant[place] = static_cast<char>(random.below(128));
                    break;
                case 1:
                    mutant.erase(place, random.below(5));
                    break;
                default:
                    mutant.insert(place, mutant.substr(random.below(mutant.size()), random.below(9)));
            }
            if (mutant.empty()) mutant = "0";
        }
        const auto read = row.read(mutant, "m");
        if (!read.ok()) {
            EXPECT_FALSE(read.error().message.empty());
            continue;
        }
        ++read_well;
        if (read->plan.schedule.stages == 3) {
            if (const auto network = make_network(read->plan.schedule, profile); network.ok())
                (void)assign_clocks(read->plan, *network).ok();
        }
        (void)row.write(read->plan).ok();
    }
    EXPECT_GT(read_well, 500);
}

}  // namespace
}  // namespace viridian::pipeline
