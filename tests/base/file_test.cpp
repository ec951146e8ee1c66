#include "viridian/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

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

// `-o /dev/null` by root must not put a file in its place.
TEST(File, DevicesPipesAndLinksAreWrittenToAndNotReplaced) {
    const Path folder = Path(testing::TempDir()) / fmt::format("file_test-{}", ::getpid());
    std::filesystem::create_directories(folder);
    const Path pipe = folder / "pipe", link = folder / "link", full = folder / "full", file = folder / "file";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = read_file(pipe).value(); });
    EXPECT_TRUE(write_file(pipe, "through").ok());
    reader.join();
    EXPECT_EQ(got, "through");
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    ASSERT_TRUE(write_file(file, "old").ok());
    std::filesystem::create_symlink(file, link);
    std::filesystem::create_symlink("/dev/full", full);
    EXPECT_TRUE(write_file(link, "new").ok());
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read_file(file).value(), "new");
    EXPECT_EQ(write_file(full, "x").error().code, ErrorCode::disk_full);
    EXPECT_TRUE(std::filesystem::is_character_file(full));
    std::filesystem::remove_all(folder);
}

// In a folder like /tmp, others can guess the name under which a file is written, and put a link there.
TEST(File, ALinkUnderTheNameOfTheUnfinishedFileIsNotFollowed) {
    const Path folder = Path(testing::TempDir()) / fmt::format("file_test-link-{}", ::getpid());
    std::filesystem::create_directories(folder);
    const Path victim = folder / "victim", file = folder / "file";
    ASSERT_TRUE(write_file(victim, "precious").ok());
    std::filesystem::create_symlink(victim, folder / fmt::format("file.{}.partial", ::getpid()));
    EXPECT_TRUE(write_file(file, "new").ok());
    EXPECT_EQ(read_file(victim).value(), "precious");
    EXPECT_EQ(read_file(file).value(), "new");
    EXPECT_FALSE(std::filesystem::is_symlink(file));
    std::filesystem::remove_all(folder);
}

TEST(File, ATemporaryFileIsOursAloneAndGoesAway) {
    Path path;
    {
        auto file = TemporaryFile::make();
        ASSERT_TRUE(file.ok()) << file.error().text();
        const TemporaryFile kept = *std::move(file);
        path = kept.path();
        const auto permissions = std::filesystem::status(path).permissions();
        EXPECT_EQ(permissions & std::filesystem::perms::all,
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        EXPECT_NE(path, TemporaryFile::make()->path());
        ASSERT_TRUE(write_file(path, "x").ok());
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    ::setenv("TMPDIR", "/nowhere", 1);
    EXPECT_TRUE(TemporaryFile::make().ok()) << "the folder is not there: /tmp is";
    ::unsetenv("TMPDIR");
}

TEST(File, ErrorsAreTyped) {
    EXPECT_EQ(read_file("/no/such/file").error().code, ErrorCode::file_not_found);
    EXPECT_EQ(read_file("/").error().code, ErrorCode::file_unreadable);
    EXPECT_EQ(write_file("/no/such/folder/x", "x").error().code, ErrorCode::file_not_writable);
    EXPECT_EQ(write_file("/dev/full/x", "x").error().kind(), ErrorKind::machine);
}

}  // namespace
}  // namespace viridian
