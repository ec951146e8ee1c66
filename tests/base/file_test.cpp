#include "viridian/base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/destination.hpp"
#include "viridian/base/system/reserved_space.hpp"
#include "viridian/base/system/transfer.hpp"

namespace viridian {
namespace {

TEST(File, WritesThenReads) {
    const tests::TemporaryFolder folder;
    const Path path = folder / "file.bin";
    const std::string bytes("a\0b\n", 4);
    ASSERT_TRUE(write_file(path, bytes).ok());
    EXPECT_EQ(read_file(path).value(), bytes);
    EXPECT_EQ(read_file(path, 3).error().code, ErrorCode::limit_exceeded);
}

// `-o /dev/null` by root must not put a file in its place.
TEST(File, DevicesPipesAndLinksAreWrittenToAndNotReplaced) {
    const tests::TemporaryFolder folder;
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
}

// In a folder like /tmp, others can guess the name under which a file is written, and put a link there.
TEST(File, ALinkUnderTheNameOfTheUnfinishedFileIsNotFollowed) {
    const tests::TemporaryFolder folder;
    const Path victim = folder / "victim", file = folder / "file";
    ASSERT_TRUE(write_file(victim, "precious").ok());
    std::filesystem::create_symlink(victim, folder / fmt::format("file.{}.partial", ::getpid()));
    EXPECT_TRUE(write_file(file, "new").ok());
    EXPECT_EQ(read_file(victim).value(), "precious");
    EXPECT_EQ(read_file(file).value(), "new");
    EXPECT_FALSE(std::filesystem::is_symlink(file));
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

// A pipe gives and takes a part at once; a transfer goes on until all is moved, or says why not.
TEST(Transfer, MovesWholeRanges) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    const std::string bytes(300'000, 'x');  // more than a pipe holds
    std::thread writer([&] {
        EXPECT_EQ(write_all(ends[1], bytes).bytes, bytes.size());
        ::close(ends[1]);
    });
    std::string got(bytes.size() + 1, '-');
    const Transfer moved = read_all(ends[0], std::as_writable_bytes(std::span(got)));
    writer.join();
    ::close(ends[0]);
    EXPECT_EQ(moved.bytes, bytes.size()) << "the end of the file is no fault";
    EXPECT_EQ(moved.fault, 0);
    EXPECT_EQ(got.substr(0, bytes.size()), bytes);
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(write_all(full, "x").fault, ENOSPC);
    ::close(full);
    EXPECT_EQ(write_all(-1, "x").fault, EBADF);
    EXPECT_EQ(sync_folder("/no/such/folder"), ENOENT);
    EXPECT_EQ(sync_folder(""), 0);
}

TEST(File, RoomIsKeptForAFileThatComesLater) {
    const tests::TemporaryFolder folder;
    constexpr std::uint64_t too_much = std::uint64_t{1} << 60U;
    const auto none = ReservedSpace::make(folder / "large.bin", too_much);
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, ErrorCode::disk_full);
    auto room = ReservedSpace::make(folder / "small.bin", 4096);
    ASSERT_TRUE(room.ok());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the room has no name";
    room->release();
    EXPECT_TRUE(ReservedSpace::make("/dev/null", too_much).ok());
    EXPECT_EQ(ReservedSpace::make(folder / "none" / "x", 1).error().code, ErrorCode::file_not_writable);
}

// The limit on the size of files stands in for a disk that is full.
TEST(File, AFileThatMayNotGrowIsOneError) {
    const tests::TemporaryFolder folder;
    const Path path = folder / "file.bin";
    ASSERT_TRUE(write_file(path, "old").ok());
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(1);
        const auto written = write_file(path, std::string(2000, 'x'));
        ::_exit(written.ok() || written.error().code != ErrorCode::disk_full ? 2 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(read_file(path).value(), "old");
}

// A process that may open no more files stands in for a disk that fails between the rename and the sync.
TEST(File, AFolderThatIsNotSyncedDoesNotHideThatTheFileWasReplaced) {
    const tests::TemporaryFolder folder;
    const Path path = folder / "file.bin";
    ASSERT_TRUE(write_file(path, "old").ok());
    const pid_t child = ::fork();
    if (child == 0) {
        const Destination to(path);
        const int file = to.open();
        if (file < 0 || ::write(file, "new", 3) != 3) ::_exit(1);
        rlimit limit{};
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(1);
        limit.rlim_cur = static_cast<rlim_t>(file);  // the lower numbers are all in use
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(1);
        const auto placed = to.place();
        if (placed.ok() || placed.error().code != ErrorCode::file_not_writable) ::_exit(2);
        const std::string said = placed.error().text();
        ::_exit(said.find("was written") != std::string::npos && said.find("overwritten") == std::string::npos
                    ? 0
                    : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(read_file(path).value(), "new");
}

TEST(File, ErrorsAreTyped) {
    EXPECT_EQ(read_file("/no/such/file").error().code, ErrorCode::file_not_found);
    EXPECT_EQ(read_file("/").error().code, ErrorCode::file_unreadable);
    EXPECT_EQ(write_file("/no/such/folder/x", "x").error().code, ErrorCode::file_not_writable);
    EXPECT_EQ(write_file("/dev/full/x", "x").error().kind(), ErrorKind::machine);
}

}  // namespace
}  // namespace viridian
