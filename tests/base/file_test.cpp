#include "viridian/base/file.hpp"

#include <gtest/gtest.h>

namespace viridian {
namespace {

TEST(File, WritesThenReads) {
    const Path path = Path(testing::TempDir()) / "file_test.bin";
    const std::string bytes("a\0b\n", 4);
    ASSERT_TRUE(write_file(path, bytes).ok());
    EXPECT_EQ(read_file(path).value(), bytes);
    EXPECT_EQ(read_file(path, 3).error().code, ErrorCode::limit_exceeded);
    std::filesystem::remove(path);
}

TEST(File, ErrorsAreTyped) {
    EXPECT_EQ(read_file("/no/such/file").error().code, ErrorCode::file_not_found);
    EXPECT_EQ(read_file("/").error().code, ErrorCode::file_unreadable);
    EXPECT_EQ(write_file("/no/such/folder/x", "x").error().code, ErrorCode::file_not_writable);
    EXPECT_EQ(write_file("/dev/full/x", "x").error().kind(), ErrorKind::machine);
}

}  // namespace
}  // namespace viridian
