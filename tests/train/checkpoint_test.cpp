#include "viridian/train/checkpoint/checkpoint.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/temporary_folder.hpp"
#include "viridian/train/checkpoint/description.hpp"
#include "viridian/train/checkpoint/safetensors.hpp"
#include "viridian/train/crc32c.hpp"

namespace viridian::train {
namespace {

using graph::Tensor;

Checkpoint example() {
    const std::array<float, 3> values = {1, -2, 3};
    return {.states = {{"fc.weight", "parameter", "", Tensor::f32({3}, values)},
                       {"fc.weight.moment1", "moment", "fc.weight", Tensor::f32({3, 1}, values)},
                       {"steps", "counter", "", Tensor::scalar(std::int64_t{12})}},
            .position = {.step = 12, .epoch = 1, .sample = 64, .seed = 0xffffffffffffffffU},
            .model = "0123456789abcdef",
            .options = {{"--batch", "32"}, {"--rate", "0.1"}},
            .data = {{"--data", "x", "4 samples of f32[2]", "00c0ffee"}},
            .numbers = {{"loss", 0.1}, {"best", std::numeric_limits<double>::infinity()}},
            .score = 1.0 / 3};
}

class CheckpointFile : public testing::Test {
  protected:
    const tests::TemporaryFolder folder_;
    const Path path_ = folder_ / "checkpoint.safetensors";
};

TEST(Crc32c, HasTheValuesOfTheStandard) {  // RFC 3720, appendix B.4
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
    std::string ascending;
    for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
    EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
    EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
    EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xe3069283U);
    EXPECT_EQ(crc32c(""), 0U);
}

TEST_F(CheckpointFile, IsReadBackWhole) {
    ASSERT_TRUE(write_checkpoint(path_, example()).ok());
    const auto read = read_checkpoint(path_);
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_TRUE(*read == example());
    auto head = read_checkpoint_head(path_);
    ASSERT_TRUE(head.ok());
    EXPECT_TRUE(head->states.empty());
    head->states = example().states;
    EXPECT_TRUE(*head == example());
    Checkpoint unscored = example();
    unscored.score.reset();
    ASSERT_TRUE(write_checkpoint(path_, unscored).ok());
    EXPECT_TRUE(*read_checkpoint(path_) == unscored);
}

TEST_F(CheckpointFile, EveryChangedByteIsNoticed) {
    ASSERT_TRUE(write_checkpoint(path_, example()).ok());
    const std::string bytes = read_file(path_).value();
    int unnoticed = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        ASSERT_TRUE(write_file(path_, damaged).ok());
        const auto read = read_checkpoint(path_);
        if (read.ok() && !(*read == example())) ADD_FAILURE() << "byte " << i << " changes what is read";
        unnoticed += read.ok() ? 1 : 0;
    }
    EXPECT_LE(unnoticed, 20);  // the text "format", which nobody here reads
    for (const std::size_t length : {bytes.size() - 1, bytes.size() / 2, std::size_t{8}, std::size_t{0}}) {
        ASSERT_TRUE(write_file(path_, bytes.substr(0, length)).ok());
        EXPECT_EQ(read_checkpoint(path_).error().code, ErrorCode::malformed);
    }
}

TEST_F(CheckpointFile, AnotherSafetensorsFileIsNoCheckpoint) {
    ASSERT_TRUE(write_safetensors(path_, std::vector<NamedTensor>{{"a", Tensor::scalar(1.0F)}}, {}).ok());
    const auto read = read_checkpoint(path_);
    EXPECT_EQ(read.error().text(),
              fmt::format("`{}` has no description of a training run. name a checkpoint that "
                          "Viridian wrote.",
                          path_.string()));
    Checkpoint more = example();
    Metadata metadata = describe(more);
    ASSERT_TRUE(
        write_safetensors(path_, std::vector<NamedTensor>{{"a", Tensor::scalar(1.0F)}}, metadata).ok());
    EXPECT_NE(read_checkpoint(path_).error().message.find("describes 3 states and holds 1 tensor"),
              std::string::npos);
}

// The checksum is made anew, so that only the text's own checks can refuse it.
TEST(CheckpointDescription, RefusesTextsThatAreNotOfItsSchema) {
    const std::string good = describe(example())["viridian.checkpoint"];
    const auto refusal = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        const auto read = read_description(
            {{"viridian.checkpoint", text}, {"viridian.crc32c", fmt::format("{:08x}", crc32c(text))}},
            "FILE");
        return read.ok() ? "accepted" : read.error().message;
    };
    EXPECT_EQ(refusal("12", "12"), "accepted");
    EXPECT_EQ(
        refusal("viridian.checkpoint/2", "viridian.checkpoint/9"),
        "`FILE` follows the schema `viridian.checkpoint/9`, this version reads `viridian.checkpoint/2`");
    EXPECT_EQ(refusal("\"step\":12", "\"step\":-1"), "the description of `FILE` has no usable `step`");
    EXPECT_EQ(refusal("\"step\":12", "\"step\":9223372036854775808"),
              "the description of `FILE` has no usable `step`");
    EXPECT_EQ(refusal("\"position\"", "\"place\""), "the description of `FILE` has no usable `step`");
    EXPECT_EQ(refusal("\"32\"", "32"), "the description of `FILE` has no usable `options`");
    EXPECT_EQ(refusal("\"0.1\"}", "\"0.1x\"}"), "accepted");  // an option is any text
    EXPECT_EQ(refusal("\"inf\"", "\"infinite\""), "the description of `FILE` has no usable `numbers`");
    EXPECT_EQ(refusal("\"crc32c\":\"", "\"crc32c\":\"z"), "the description of `FILE` has no usable `crc32c`");
    EXPECT_EQ(refusal("\"form\"", "\"from\""), "the description of `FILE` has no usable `form`");
    EXPECT_EQ(refusal("\"data\"", "\"date\""), "the description of `FILE` has no usable `data`");
    EXPECT_EQ(refusal("\"of\":\"\"", "\"of\":null"), "the description of `FILE` has no usable `of`");
    EXPECT_EQ(refusal("\"states\"", "\"stats\""), "the description of `FILE` has no usable `states`");
    EXPECT_EQ(refusal("{", ""), "`FILE` is not JSON at line 1, column 9");
}

TEST(Resume, RefusesAnotherModelAndNamesOptionsThatDiffer) {
    const Checkpoint saved = example();
    EXPECT_TRUE(check_resumable(saved, "c", "0123456789abcdef", {{"--batch", "32"}, {"--rate", "0.1"}}).ok());
    EXPECT_EQ(check_resumable(saved, "c", "aa", saved.options).error().message,
              "`c` belongs to another model: its hash is 0123456789abcdef, that of this model is aa");
    EXPECT_EQ(
        check_resumable(saved, "c", saved.model, {{"--batch", "64"}, {"--clip", "1"}}).error().message,
        "the run of `c` had other options: --batch was 32 and is 64; --clip was not given and is 1; --rate "
        "was 0.1 and is not given");
    EXPECT_TRUE(
        check_resumable(saved, "c", saved.model, {{"--batch", "32"}, {"--rate", "0.1"}, {"--ema", ""}}).ok())
        << "an empty value says that an option is not given";
}

}  // namespace
}  // namespace viridian::train
