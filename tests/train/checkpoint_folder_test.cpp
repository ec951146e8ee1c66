#include "viridian/train/checkpoint/folder.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/random.hpp"

namespace viridian::train {
namespace {

using graph::Tensor;

// A checkpoint whose every byte follows from its step.
Checkpoint at_step(std::int64_t step, std::int64_t count = 1000) {
    Random random(static_cast<std::uint64_t>(step));
    Tensor weight(graph::ElementType::f32, {count});
    for (float& value : weight.mutable_values<float>()) value = static_cast<float>(random.normal());
    return {.states = {{"weight", "parameter", "", weight},
                       {"weight.moment1", "moment", "weight", Tensor::scalar(static_cast<float>(step))}},
            .position = {.step = step, .epoch = step / 10, .sample = 3, .seed = 5},
            .model = "aa",
            .options = {{"--batch", "32"}},
            .data = {},
            .numbers = {{"loss", 1.0 / static_cast<double>(step + 1)}},
            .score = {}};
}

class Folder : public testing::Test {
  protected:
    [[nodiscard]] std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> found;
        for (const Path& file : checkpoints_in(path_)) found.push_back(read_checkpoint(file)->position.step);
        return found;
    }
    const tests::TemporaryFolder folder_;
    const Path path_ = folder_ / "checkpoints";  // made when the first checkpoint is
};

TEST_F(Folder, KeepsTheLastOnesAndTheBest) {
    EXPECT_EQ(CheckpointFolder::open(path_, {.last = 0}).error().code, ErrorCode::invalid_argument);
    auto folder = CheckpointFolder::open(path_, {.last = 2, .best = true, .lower_is_better = true});
    ASSERT_TRUE(folder.ok());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::array<std::optional<double>, 6> scores = {nan, 3, 1, 2, std::nullopt, 1.5};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        Checkpoint checkpoint = at_step(static_cast<std::int64_t>(i) + 1);
        checkpoint.score = scores[i];
        ASSERT_TRUE(folder->save(checkpoint).ok());
    }
    EXPECT_EQ(steps(), (std::vector<std::int64_t>{6, 5, 3}));
    EXPECT_EQ(best_checkpoint(path_, true), checkpoints_in(path_)[2]);
    EXPECT_EQ(best_checkpoint(path_, false), checkpoints_in(path_)[0]);
    EXPECT_EQ(newest_checkpoint(path_)->checkpoint.position.step, 6);
    ASSERT_TRUE(folder->save(at_step(1)).ok());  // an older step than those that are there is kept as well
    EXPECT_EQ(steps(), (std::vector<std::int64_t>{6, 5, 3, 1}));
}

TEST_F(Folder, BelongsToOneProcessAndLosesWhatWasNotFinished) {
    EXPECT_EQ(newest_checkpoint(path_).error().code, ErrorCode::file_not_found);
    {
        auto folder = CheckpointFolder::open(path_, {});
        ASSERT_TRUE(folder.ok());
        ASSERT_TRUE(folder->save(at_step(7)).ok());
        const auto second = CheckpointFolder::open(path_, {});
        EXPECT_EQ(second.error().message,
                  fmt::format("another process writes checkpoints to `{}`", path_.string()));
    }
    const Path unfinished = path_ / "step-000000000008.safetensors.123.partial";
    const Path others = path_ / "notes.txt.123.partial";
    ASSERT_TRUE(write_file(unfinished, "half").ok());
    ASSERT_TRUE(write_file(others, "mine").ok());
    EXPECT_EQ(newest_checkpoint(path_)->checkpoint.position.step, 7);
    ASSERT_TRUE(CheckpointFolder::open(path_, {}).ok());
    EXPECT_FALSE(std::filesystem::exists(unfinished));
    EXPECT_TRUE(std::filesystem::exists(others));
}

TEST_F(Folder, SkipsDamagedFilesWithANote) {
    auto folder = CheckpointFolder::open(path_, {.last = 3});
    ASSERT_TRUE(folder.ok());
    std::vector<Path> files;
    for (const std::int64_t step : {1, 2, 3}) files.push_back(folder->save(at_step(step)).value());
    std::filesystem::resize_file(files[2], 100);
    std::string bytes = read_file(files[1]).value();
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    ASSERT_TRUE(write_file(files[1], bytes).ok());
    const auto found = newest_checkpoint(path_);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->path, files[0]);
    EXPECT_TRUE(found->checkpoint == at_step(1));
    ASSERT_EQ(found->notes.size(), 2U);
    EXPECT_TRUE(found->notes[0].starts_with(fmt::format("`{}` was skipped: ", files[2].string())));
    EXPECT_NE(found->notes[1].find("does not match its checksum"), std::string::npos) << found->notes[1];
    std::filesystem::remove(files[0]);
    EXPECT_EQ(newest_checkpoint(path_).error().code, ErrorCode::malformed);
}

// Goes on from the newest checkpoint and writes further ones until it is killed.
[[noreturn]] void write_until_killed(const Path& path) {
    auto folder = CheckpointFolder::open(path, {.last = 2});
    const auto newest = newest_checkpoint(path);
    if (!folder.ok() || !newest.ok()) ::_exit(1);
    for (std::int64_t step = newest->checkpoint.position.step + 1;; ++step)
        if (!folder->save(at_step(step, 50'000)).ok()) ::_exit(2);
}

TEST_F(Folder, IsCompleteAfterAnyOfAHundredKills) {
    ASSERT_TRUE(CheckpointFolder::open(path_, {.last = 2})->save(at_step(1, 50'000)).ok());
    Random random(11);
    int unfinished = 0;
    std::int64_t last = 1;
    for (int kill = 0; kill < 100; ++kill) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) write_until_killed(path_);
        ::usleep(static_cast<useconds_t>(random.between(0, 20'000)));
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up with " << WEXITSTATUS(status);
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            unfinished += entry.path().extension() == ".partial" ? 1 : 0;
        const auto files = checkpoints_in(path_);
        ASSERT_FALSE(files.empty());
        for (const Path& file : files) {
            const auto read = read_checkpoint(file);
            ASSERT_TRUE(read.ok()) << read.error().text();
            ASSERT_TRUE(*read == at_step(read->position.step, 50'000)) << file;
        }
        const std::int64_t step = read_checkpoint_head(files.front())->position.step;
        EXPECT_GE(step, last);
        last = step;
    }
    // A kill between the rename and the removal of old files leaves one too many; the next save removes them.
    ASSERT_TRUE(CheckpointFolder::open(path_, {.last = 2})->save(at_step(last + 1, 50'000)).ok());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_), {}), 2);
    RecordProperty("unfinished_files", unfinished);
    RecordProperty("last_step", static_cast<int>(last));
}

// Runs `body` in a process of its own and returns its exit code.
template <class Body>
int in_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Folder, AFileThatMayNotGrowIsOneErrorAndTheLastOneStays) {
    ASSERT_TRUE(CheckpointFolder::open(path_, {.last = 1})->save(at_step(1)).ok());
    const int code = in_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{2000, 2000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
        auto folder = CheckpointFolder::open(path_, {.last = 1});
        const auto saved = folder->save(at_step(2));
        return saved.ok() || saved.error().code != ErrorCode::disk_full ? 2 : 0;
    });
    EXPECT_EQ(code, 0);
    EXPECT_EQ(steps(), (std::vector<std::int64_t>{1}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_), {}), 1);
}

TEST_F(Folder, AFullDiskIsOneErrorAndTheLastOneStays) {
    constexpr int cannot_mount = 77;
    std::filesystem::create_directories(path_);
    const int code = in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return cannot_mount;
        (void)::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        if (::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=64k") != 0) return cannot_mount;
        auto folder = CheckpointFolder::open(path_, {.last = 1});
        if (!folder.ok() || !folder->save(at_step(1)).ok()) return 1;
        const auto saved = folder->save(at_step(2, 100'000));
        if (saved.ok() || saved.error().code != ErrorCode::disk_full) return 2;
        if (!saved.error().next_step.ends_with("; the last checkpoint is still `" +
                                               (path_ / "step-000000000001.safetensors").string() + "`"))
            return 3;
        if (std::distance(std::filesystem::directory_iterator(path_), {}) != 1) return 4;
        return newest_checkpoint(path_)->checkpoint == at_step(1) ? 0 : 5;
    });
    if (code == cannot_mount) GTEST_SKIP() << "this machine lets us mount no file system";
    EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace viridian::train
