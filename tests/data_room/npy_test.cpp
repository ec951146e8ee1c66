#include "viridian/data/npy.hpp"

#include <gtest/gtest.h>

namespace viridian::data {
namespace {

using graph::Tensor;

TEST(Npy, ColumnMajorArraysAreTurned) {
    std::string bytes = *npy_bytes(Tensor::f32({2, 3}, std::vector<float>{0, 3, 1, 4, 2, 5}));
    bytes.replace(bytes.find("False"), 5, "True ");
    const auto tensor = parse_npy(bytes, "f");
    ASSERT_TRUE(tensor.ok());
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(tensor->values<float>()[i], static_cast<float>(i));
}

TEST(Npy, CutFilesAreRefused) {
    const std::string whole = *npy_bytes(Tensor::f32({2, 3}, std::vector<float>(6)));
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(parse_npy(whole.substr(0, length), "cut").ok()) << length;
    std::string huge = whole;
    huge.replace(huge.find("(2, 3, )"), 8, "(1152921504606846976, 9, )");
    EXPECT_FALSE(parse_npy(huge, "huge").ok());
}

TEST(Npy, TheHeaderAloneSaysWhatTheFileHolds) {
    const std::string bytes = *npy_bytes(Tensor::f32({4, 2}, std::vector<float>(8)));
    const auto header = parse_npy_header(bytes, "h");
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header->type, graph::ElementType::f32);
    EXPECT_EQ(header->dims, (graph::Dims{4, 2}));
    EXPECT_FALSE(header->column_major);
    EXPECT_EQ(header->start + 32, bytes.size());
}

}  // namespace
}  // namespace viridian::data
