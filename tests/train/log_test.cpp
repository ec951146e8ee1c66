#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"
#include "viridian/train/log/event_file.hpp"
#include "viridian/train/log/line_log.hpp"
#include "viridian/train/log/progress.hpp"

namespace viridian::train {
namespace {

std::string hex_of(std::string_view bytes) {
    std::string hex;
    for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return hex;
}

StepRecord example_step() {
    return {.step = 120,
            .steps = 5000,
            .epoch = 1,
            .epochs = 10,
            .loss = 0.5,
            .average_loss = 0.43124,
            .rate = 2.9e-4,
            .seconds = Seconds(0.04),
            .samples = 32,
            .gradient_norm = {},
            .energy = Energy{Joules(2), Joules(1.5), Joules(2.5), {Provenance::Kind::measured, "powercap"}},
            .remaining = Seconds(252)};
}

EvaluationRecord evaluation() {
    return {.step = 120,
            .epoch = 1,
            .loss = 0.75,
            .metrics = {{"top-1", 0.5}, {"top-5", 1}},
            .seconds = Seconds(2),
            .samples = 64};
}

TEST(Progress, SaysWhatIsKnown) {
    StepRecord record = example_step();
    EXPECT_EQ(progress_line(record),
              "step 120/5000, 4 min 12 s left, loss 0.4312, 2.00 J/step measured, 1.50 J to 2.50 J, 50.0 W, "
              "800 samples/s, epoch 1/10, rate 0.00029");
    record.energy->provenance = {Provenance::Kind::estimated, "cpu-linear"};
    record.gradient_norm = 1.25;
    EXPECT_EQ(progress_line(record),
              "step 120/5000, 4 min 12 s left, loss 0.4312, 2.00 J/step estimated, 1.50 J to 2.50 J, 50.0 W, "
              "800 samples/s, epoch 1/10, rate 0.00029, gradient norm 1.25");
    EXPECT_EQ(progress_line({.step = 3,
                             .loss = std::nan(""),
                             .average_loss = {},
                             .rate = 1,
                             .gradient_norm = {},
                             .energy = {},
                             .remaining = {}}),
              "step 3, loss nan, rate 1");
}

TEST(Progress, WritesDurations) {
    EXPECT_EQ(duration_text(Seconds(0.4)), "0 s");
    EXPECT_EQ(duration_text(Seconds(59.6)), "1 min 0 s");
    EXPECT_EQ(duration_text(Seconds(11'100)), "3 h 5 min");
    EXPECT_EQ(duration_text(Seconds(86'400 + 3 * 3600)), "1 day 3 h");
    EXPECT_EQ(duration_text(Seconds(2 * 86'400)), "2 days 0 h");
    EXPECT_EQ(duration_text(Seconds(std::nan(""))), "an unknown time");
    EXPECT_EQ(duration_text(Seconds(-1)), "an unknown time");
    EXPECT_EQ(duration_text(Seconds(HUGE_VAL)), "an unknown time");
}

TEST(Progress, TheAverageOfTheLossHasNoBiasTowardsZero) {
    LossAverage average;
    EXPECT_FALSE(average.value().has_value());
    average.add(4);
    EXPECT_DOUBLE_EQ(*average.value(), 4);
    average.add(2);
    EXPECT_DOUBLE_EQ(*average.value(), (0.98 * 4 + 2) / 1.98);
}

TEST(LineLog, OneObjectAStepAndOneAnEvaluation) {
    StepRecord record = example_step();
    EXPECT_EQ(
        json_dump(to_json(record), -1),
        R"({"schema":"viridian.train-step/1","step":120,"epoch":1,"loss":0.5,"rate":0.00029,"seconds":0.04,)"
        R"("samples":32,"average_loss":0.43124,"joules":{"value":2.0,"low":1.5,"high":2.5,"provenance":)"
        R"("measured:powercap"},"watts":{"value":50.0,"provenance":"measured:powercap"}})");
    EXPECT_EQ(
        json_dump(to_json(evaluation()), -1),
        R"({"schema":"viridian.train-evaluation/1","step":120,"epoch":1,"loss":0.75,"metrics":{"top-1":0.5,)"
        R"("top-5":1.0},"seconds":2.0,"samples":64})");
    record.loss = std::nan("");
    EXPECT_TRUE(parse_json(json_dump(to_json(record), -1), "line")->at("loss").is_null());
}

TEST(LineLog, AResumedRunWritesNoStepTwice) {
    const tests::TemporaryFolder folder;
    const Path path = folder / "log.jsonl";
    const auto write = [&](LineLog log, std::int64_t from, std::int64_t to) {
        StepRecord record = example_step();
        for (record.step = from; record.step <= to; ++record.step) ASSERT_TRUE(log.add(record).ok());
    };
    write(LineLog::open(path, std::nullopt).value(), 1, 6);
    const std::string whole = read_file(path).value();
    ASSERT_TRUE(
        write_file(path, whole + R"({"schema":"viridian.train-st)").ok());  // killed in the middle of a line
    write(LineLog::open(path, 4).value(), 5, 6);
    EXPECT_EQ(read_file(path).value(), whole);
    write(LineLog::open(path, 99).value(), 7, 7);
    EXPECT_TRUE(read_file(path)->starts_with(whole));
    write(LineLog::open(path, std::nullopt).value(), 1, 1);
    EXPECT_EQ(read_file(path).value(), whole.substr(0, whole.find('\n') + 1));
    std::filesystem::remove(path);
    write(LineLog::open(path, 0).value(), 1, 6);
    EXPECT_EQ(read_file(path).value(), whole);
    EXPECT_EQ(LineLog::open(folder / "none" / "no", std::nullopt).error().code, ErrorCode::file_not_writable);
}

// An evaluation belongs to the step after which it was made.
TEST(LineLog, AResumedRunKeepsTheEvaluationsOfItsCheckpoint) {
    StepRecord next = example_step();
    next.step = 121;
    const std::string until =
        json_dump(to_json(example_step()), -1) + "\n" + json_dump(to_json(evaluation()), -1) + "\n";
    const std::string log = until + json_dump(to_json(next), -1) + "\n";
    EXPECT_EQ(lines_until(log, 121), log);
    EXPECT_EQ(lines_until(log, 120), until);
    EXPECT_EQ(lines_until(log, 119), "");
}

TEST(LineLog, LinesOfOthersEndTheLog) {
    const std::string good = json_dump(to_json(example_step()), -1) + "\n";
    EXPECT_EQ(lines_until(good, 120), good);
    EXPECT_EQ(lines_until(good, 119), "");
    for (const std::string_view other : {"{}\n", "\n", "[]\n", "x\n",
                                         R"({"schema":"viridian.train-step/1"})"
                                         "\n",
                                         R"({"schema":"viridian.train-step/1","step":-1})"
                                         "\n"})
        EXPECT_EQ(lines_until(good + std::string(other) + good, 120), good) << other;
}

// What TensorBoard's own RecordWriter and protocol-buffer classes write for these two events.
TEST(EventFile, AgreesWithTensorBoardByteForByte) {
    EXPECT_EQ(hex_of(version_event(Seconds(1.5))),
              "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c");
    EXPECT_EQ(hex_of(scalar_event(Seconds(2), 300, std::vector<Scalar>{{"loss/train", 0.25}, {"rate", 0}})),
              "2e00000000000000c5cb57fa09000000000000004010ac022a200a110a0a6c6f73732f747261696e150000803e0a0b"
              "0a04726174"
              "6515000000006e9e82af");
}

TEST(EventFile, IsARowOfRecords) {
    const tests::TemporaryFolder folder;
    auto file = EventFile::create(folder / "events", Seconds(1'700'000'000.25));
    ASSERT_TRUE(file.ok());
    const auto scalars = scalars_of(example_step());
    ASSERT_TRUE(file->add(Seconds(2), 1, scalars).ok());
    ASSERT_TRUE(file->add(Seconds(3), 2, scalars).ok());
    EXPECT_TRUE(file->path().filename().string().starts_with("events.out.tfevents.1700000000."));
    EXPECT_EQ(read_file(file->path()).value(), version_event(Seconds(1'700'000'000.25)) +
                                                   scalar_event(Seconds(2), 1, scalars) +
                                                   scalar_event(Seconds(3), 2, scalars));
    EXPECT_EQ(EventFile::create("/dev/null/x", Seconds(0)).error().code, ErrorCode::file_not_writable);
}

TEST(EventFile, TagsGroupLossesAndMetricsAndSayTheProvenanceOfEnergy) {
    std::string tags;
    for (const Scalar& scalar : scalars_of(example_step()))
        tags += fmt::format("{}={:g} ", scalar.tag, scalar.value);
    EXPECT_EQ(tags,
              "loss/train=0.5 rate=0.00029 samples_per_second=800 energy/joules_per_step/measured=2 "
              "energy/watts/measured=50 ");
    tags.clear();
    for (const Scalar& scalar : scalars_of(evaluation()))
        tags += fmt::format("{}={:g} ", scalar.tag, scalar.value);
    EXPECT_EQ(tags, "loss/evaluation=0.75 metric/top-1=0.5 metric/top-5=1 ");
}

}  // namespace
}  // namespace viridian::train
