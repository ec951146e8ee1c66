#include "viridian/train/checkpoint/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/temporary_folder.hpp"

namespace viridian::train {
namespace {

using graph::ElementType;
using graph::Tensor;

class Safetensors : public testing::Test {
  protected:
    [[nodiscard]] Path path(const char* name) const { return folder_ / name; }
    // Writes a file with this header and `data_bytes` bytes of data.
    [[nodiscard]] Path file(std::string_view json, std::size_t data_bytes) const {
        std::string bytes(8, '\0');
        const std::uint64_t length = json.size();
        std::memcpy(bytes.data(), &length, 8);
        const Path at = path("made.safetensors");
        EXPECT_TRUE(write_file(at, bytes + std::string(json) + std::string(data_bytes, '\0')).ok());
        return at;
    }
    [[nodiscard]] std::string refusal(std::string_view json, std::size_t data_bytes) const {
        const auto opened = SafetensorsFile::open(file(json, data_bytes));
        if (opened.ok()) return "accepted";
        std::string message = opened.error().message;
        const std::string name = "`" + path("made.safetensors").string() + "`";
        if (const auto at = message.find(name); at != std::string::npos)
            message.replace(at, name.size(), "FILE");
        return message;
    }

  private:
    const tests::TemporaryFolder folder_;
};

TEST_F(Safetensors, WhatIsWrittenIsReadBack) {
    std::vector<NamedTensor> tensors;
    for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16,
                                   ElementType::i64, ElementType::i32, ElementType::i16, ElementType::i8,
                                   ElementType::u64, ElementType::u32, ElementType::u16, ElementType::u8}) {
        Tensor tensor(type, {3, 5});
        for (std::int64_t i = 0; i < tensor.byte_count(); ++i)
            tensor.mutable_bytes()[i] = static_cast<std::byte>(i * 7 + 1);
        tensors.push_back({fmt::format("layer/{} \"q\"\n", graph::name_of(type)), tensor});
    }
    tensors.push_back(
        {"boolean", Tensor::of<std::uint8_t>(ElementType::boolean, {2}, std::array<std::uint8_t, 2>{1, 0})});
    tensors.push_back({"scalar", Tensor::scalar(1.5F)});
    tensors.push_back({"empty", Tensor(ElementType::f32, {4, 0})});
    const Metadata metadata = {{"key", "väl\"ue"}, {"", ""}};
    ASSERT_TRUE(write_safetensors(path("a.safetensors"), tensors, metadata).ok());
    const auto read = SafetensorsFile::open(path("a.safetensors"));
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->metadata(), metadata);
    EXPECT_EQ(read->tensors().size(), tensors.size());
    for (const NamedTensor& tensor : tensors) {
        const auto again = read->read(tensor.name);
        ASSERT_TRUE(again.ok()) << again.error().text();
        EXPECT_TRUE(again->same_bytes(tensor.tensor)) << tensor.name;
    }
    for (const StoredTensor& stored : read->tensors())  // each begins at a multiple of its element's size
        EXPECT_EQ(stored.begin % static_cast<std::uint64_t>(stored.type->bits / 8), 0U) << stored.name;
    EXPECT_EQ(read->read("other").error().code, ErrorCode::missing_entry);
}

// What the Python package safetensors 0.8.0 writes for the four tensors and the text below.
TEST_F(Safetensors, AgreesWithThePythonPackageByteForByte) {
    using std::string_literals::operator""s;
    const std::string header =
        R"({"__metadata__":{"made_by":"safetensors"},"steps":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
        R"("fc.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},)"
        R"("none":{"dtype":"F16","shape":[0,4],"data_offsets":[32,32]},)"
        R"("mask":{"dtype":"BOOL","shape":[3],"data_offsets":[32,35]}})";
    const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
    const std::string expected = std::string(1, static_cast<char>(padded.size() & 0xffU)) +
                                 std::string(1, static_cast<char>(padded.size() >> 8U)) +
                                 std::string(6, '\0') + padded + "\7\0\0\0\0\0\0\0"s +
                                 "\0\0\0\0\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@"s + "\1\0\1"s;
    const std::vector<NamedTensor> tensors = {
        {"fc.weight", Tensor::f32({2, 3}, std::array<float, 6>{0, 1, 2, 3, 4, 5})},
        {"steps", Tensor::scalar(std::int64_t{7})},
        {"mask", Tensor::of<std::uint8_t>(ElementType::boolean, {3}, std::array<std::uint8_t, 3>{1, 0, 1})},
        {"none", Tensor(ElementType::f16, {0, 4})}};
    ASSERT_TRUE(write_safetensors(path("b.safetensors"), tensors, {{"made_by", "safetensors"}}).ok());
    EXPECT_EQ(read_file(path("b.safetensors")).value(), expected);
}

TEST_F(Safetensors, ASubsetOfNamesIsAFileOfItsOwn) {
    const std::vector<NamedTensor> all = {{"a", Tensor::scalar(1.0F)}, {"b", Tensor::scalar(2.0F)}};
    ASSERT_TRUE(write_safetensors(path("s.safetensors"), std::span(all).subspan(1), {}).ok());
    const auto read = SafetensorsFile::open(path("s.safetensors"));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->tensors().size(), 1U);
    EXPECT_EQ(read->read("b")->number(0), 2.0);
}

TEST_F(Safetensors, RefusesHeadersThatDoNotSayWhereEveryByteBelongs) {
    const auto one = [](std::string_view rest) { return fmt::format(R"({{"a":{{{}}}}})", rest); };
    const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
    EXPECT_EQ(refusal(one(good), 8), "accepted");
    EXPECT_EQ(refusal("{}", 0), "accepted");
    EXPECT_EQ(refusal(one(good) + "   ", 8), "accepted");
    EXPECT_EQ(refusal(one(good), 9), "FILE is damaged: its last 1 bytes belong to no tensor");
    EXPECT_EQ(refusal(one(good), 7), "FILE is damaged: it ends 1 bytes too early, within or before `a`");
    EXPECT_EQ(refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4),
              "FILE is damaged: the place of `a` (0 to 4) does not fit its type F32 and shape [2]");
    EXPECT_EQ(refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8),
              "FILE is damaged: the place of `a` (8 to 0) does not fit its type F32 and shape [2]");
    EXPECT_EQ(refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), 12),
              "FILE is damaged: 4 bytes before `a` belong to no tensor");
    EXPECT_EQ(refusal(fmt::format(R"({{"a":{{{}}},"b":{{{}}}}})", good, good), 8),
              "FILE is damaged: `a` and `b` share bytes");
    EXPECT_EQ(refusal(fmt::format(R"({{"a":{{{}}},"a":{{{}}}}})", good, good), 8),
              "the header of FILE names `a` twice");
    EXPECT_EQ(refusal(one(good + R"(,"shape":[2])"), 8), "the header of FILE names `shape` twice");
    EXPECT_EQ(refusal(one(good + R"(,"order":"C")"), 8),
              "the header of FILE has the unknown member `order` in tensor `a`");
    EXPECT_EQ(refusal(one(R"("dtype":"F32","shape":[2])"), 8),
              "the header of FILE lacks dtype, shape or data_offsets in tensor `a`");
    EXPECT_EQ(refusal(one(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])"), 8),
              "FILE: tensor `a` has the unknown element type `F33`");
    // 2^62 · 4 bytes wrap around to 0.
    EXPECT_EQ(refusal(one(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])"), 0),
              "FILE is damaged: the place of `a` (0 to 0) does not fit its type F32 and shape "
              "[4611686018427387904]");
    EXPECT_EQ(refusal(one(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"), 1),
              "FILE is damaged: the place of `a` (0 to 1) does not fit its type F4 and shape [3]");
}

TEST_F(Safetensors, RefusesHeadersThatAreNotOfTheFormat) {
    EXPECT_EQ(refusal("", 0), "the header of FILE is not a JSON object");
    EXPECT_EQ(refusal("[]", 0), "the header of FILE is not a JSON object");
    EXPECT_EQ(refusal(" {}", 0), "the header of FILE is not a JSON object");
    EXPECT_EQ(refusal("{", 0), "the header of FILE is not JSON at byte 2");
    EXPECT_EQ(refusal("{}{", 0), "the header of FILE is not JSON at byte 3");
    EXPECT_EQ(refusal(R"({"a":1})", 0), "the header of FILE has a number at `a`");
    EXPECT_EQ(refusal(R"({"a":[]})", 0), "the header of FILE has an array at `a`");
    EXPECT_EQ(refusal(R"({"__metadata__":{"k":1}})", 0), "the header of FILE has a number at `k`");
    EXPECT_EQ(refusal(R"({"__metadata__":{"k":{}}})", 0), "the header of FILE has an object at `k`");
    EXPECT_EQ(refusal(R"({"a":{"shape":[-1]}})", 0),
              "the header of FILE has a negative number at `shape` of tensor `a`");
    EXPECT_EQ(refusal(R"({"a":{"shape":[1.5]}})", 0),
              "the header of FILE has a number with a fraction at `shape` of tensor `a`");
    EXPECT_EQ(refusal(R"({"a":{"shape":[[1]]}})", 0),
              "the header of FILE has an array at `shape` of tensor `a`");
    EXPECT_EQ(refusal(R"({"a":{"shape":[9223372036854775808]}})", 0),
              "the header of FILE has a dimension above 2^63 at `shape` of tensor `a`");
    EXPECT_EQ(refusal(R"({"a":{"data_offsets":[0]}})", 0),
              "the header of FILE has too few offsets at `data_offsets` of tensor `a`");
    EXPECT_EQ(refusal(R"({"a":{"data_offsets":[0,1,2]}})", 0),
              "the header of FILE has a number at `data_offsets` of tensor `a`");
    EXPECT_EQ(refusal(R"({"a":{"dtype":null}})", 0),
              "the header of FILE has `null` at `dtype` of tensor `a`");
    EXPECT_EQ(refusal("{\"\xff\":{}}", 0), "the header of FILE is not JSON at byte 3");
    std::string ones = "1";
    for (int i = 1; i < 33; ++i) ones += ",1";
    EXPECT_EQ(refusal(R"({"a":{"shape":[)" + ones + "]}}", 0),
              "FILE: tensor `a` has more than 32 dimensions");
}

TEST_F(Safetensors, RefusesWhatIsNoFileOfTheFormat) {
    ASSERT_TRUE(write_file(path("short"), "1234567").ok());
    EXPECT_NE(SafetensorsFile::open(path("short")).error().message.find("has 7 bytes"), std::string::npos);
    ASSERT_TRUE(write_file(path("long"), std::string("\xff\0\0\0\0\0\0\0{}", 10)).ok());
    EXPECT_NE(
        SafetensorsFile::open(path("long")).error().message.find("header has 255 bytes, but the file has 10"),
        std::string::npos);
    EXPECT_EQ(SafetensorsFile::open(path("none")).error().code, ErrorCode::file_not_found);
    EXPECT_EQ(SafetensorsFile::open(path("")).error().code, ErrorCode::file_unreadable);
    EXPECT_EQ(SafetensorsFile::open("/dev/null").error().code, ErrorCode::file_unreadable);
}

TEST_F(Safetensors, KnowsTypesThatItCannotRead) {
    const auto opened =
        SafetensorsFile::open(file(R"({"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}})", 3));
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened->read("a").error().code, ErrorCode::unsupported);
    const auto boolean =
        SafetensorsFile::open(file(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 1));
    ASSERT_TRUE(boolean.ok());
    EXPECT_TRUE(boolean->read("a").ok());
}

TEST_F(Safetensors, AFileThatBecomesShorterIsAnError) {
    ASSERT_TRUE(
        write_safetensors(path("c"), std::vector<NamedTensor>{{"a", Tensor(ElementType::f32, {100})}}, {})
            .ok());
    const auto opened = SafetensorsFile::open(path("c"));
    ASSERT_TRUE(opened.ok());
    std::filesystem::resize_file(path("c"), std::filesystem::file_size(path("c")) - 1);
    EXPECT_EQ(opened->read("a").error().code, ErrorCode::file_unreadable);
    EXPECT_EQ(SafetensorsFile::open(path("c")).error().code, ErrorCode::malformed);
}

TEST_F(Safetensors, RefusesToWriteNamesThatTheFormatLacks) {
    const auto written = [&](std::vector<NamedTensor> tensors) {
        const auto result = write_safetensors(path("d"), tensors, {});
        EXPECT_FALSE(std::filesystem::exists(path("d")));
        return result.ok() ? ErrorCode::broken_invariant : result.error().code;
    };
    const Tensor one = Tensor::scalar(1.0F);
    EXPECT_EQ(written({{"a", one}, {"a", one}}), ErrorCode::invalid_argument);
    EXPECT_EQ(written({{"__metadata__", one}}), ErrorCode::invalid_argument);
    EXPECT_EQ(written({{"\xff", one}}), ErrorCode::invalid_argument);
    EXPECT_EQ(written({{"a", Tensor()}}), ErrorCode::invalid_argument);
    EXPECT_EQ(write_safetensors("/dev/full", std::vector<NamedTensor>{{"a", one}}, {}).error().code,
              ErrorCode::disk_full);
    EXPECT_EQ(write_safetensors(path("no/folder"), std::vector<NamedTensor>{}, {}).error().code,
              ErrorCode::file_not_writable);
}

}  // namespace
}  // namespace viridian::train
