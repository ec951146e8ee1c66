#include "viridian/cost/database.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <cmath>

namespace viridian::cost {
namespace {

Key key(int number) {
    return {fmt::format("Conv {}", number), "dnnl (nchw:f32) -> (nchw:f32)", "cpu-1", "dnnl 2.6.3", 2, 1};
}

Entry entry(double seconds) {
    Entry entry;
    entry.minimum = entry.median = entry.low = entry.high = Seconds(seconds);
    entry.count = 7;
    entry.energy = {Joules(seconds * 10),
                    Joules(seconds * 9),
                    Joules(seconds * 11),
                    {Provenance::Kind::estimated, "cpu-linear"}};
    entry.workspace = Bytes(64);
    entry.error = std::nan("");
    return entry;
}

class DatabaseFile : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = Path(testing::TempDir()) / fmt::format("cost_{}", ::getpid());
        std::filesystem::create_directories(folder_);
        path_ = folder_ / "deep" / "cost.db";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    Path folder_;
    Path path_;
};

// As version 1 wrote it: entries say nothing of their looks.
TEST_F(DatabaseFile, AFileOfTheFirstVersionIsReadAndWritten) {
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(database.ok() && database->put(key(1), entry(0.5)).ok());
    }
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, "alter table entry drop column looks; pragma user_version = 1;", nullptr,
                           nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
    for (int again = 0; again < 2; ++again) {
        auto database = Database::open(path_);
        ASSERT_TRUE(database.ok()) << database.error().text();
        auto found = database->get(key(1));
        ASSERT_TRUE(found.ok() && found->has_value());
        EXPECT_EQ((*found)->median, Seconds(0.5));
        EXPECT_EQ((*found)->looks, again == 0 ? 1 : 4);
        (*found)->looks = 4;
        ASSERT_TRUE(database->put(key(1), **found).ok());
    }
}

TEST_F(DatabaseFile, KeepsEntriesListsAndResiduals) {
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(database.ok()) << database.error().text();
        ASSERT_TRUE(database->put(key(1), entry(0.5)).ok());
        plan::Choice choice;
        choice.kernel = "k";
        choice.inputs = {{plan::plain(4), graph::ElementType::f32, {}}};
        ASSERT_TRUE(database->put_choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 1, "f32"}, {choice}).ok());
        ASSERT_TRUE(database->put_residual({"m", "p", "cpu-1", 2, Seconds(1), Seconds(1.1)}).ok());
    }
    auto database = Database::open(path_);
    ASSERT_TRUE(database.ok());
    const auto found = database->get(key(1));
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->median, Seconds(0.5));
    EXPECT_EQ((*found)->energy.provenance.text(), "estimated:cpu-linear");
    EXPECT_TRUE(std::isnan((*found)->error));
    EXPECT_FALSE(database->get(key(2))->has_value());
    EXPECT_EQ(database->get_all(key(1))->size(), 1U);
    const auto list = database->choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 1, "f32"});
    ASSERT_TRUE(list.ok() && list->has_value());
    EXPECT_EQ((**list)[0].kernel, "k");
    EXPECT_FALSE(database->choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 1, "f32,bf16"})->has_value());
    EXPECT_FALSE(database->choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 2, "f32"})->has_value())
        << "made under another protocol";
    EXPECT_EQ(database->residuals("cpu-1")->size(), 1U);
}

// As version 2 wrote it: 0 where nothing had been compared, lists under no protocol.
TEST_F(DatabaseFile, AFileOfTheSecondVersionLosesItsErrorsAndLists) {
    {
        auto database = Database::open(path_);
        Entry compared = entry(0.5);
        compared.error = 0;
        ASSERT_TRUE(database.ok() && database->put(key(1), compared).ok());
    }
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw,
                           "drop table choice_list; create table choice_list (subject text not null, device "
                           "text not null, library text not null, threads integer not null, allowances text "
                           "not null, choices text not null, primary key (subject, device, library, threads, "
                           "allowances)) without rowid; insert into choice_list values ('s', 'd', 'l', 2, "
                           "'f32', '[]'); pragma user_version = 2;",
                           nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
    auto database = Database::open(path_);
    ASSERT_TRUE(database.ok()) << database.error().text();
    const auto found = database->get(key(1));
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_TRUE(std::isnan((*found)->error));
    const ListKey list{"s", "d", "l", 2, 1, "f32"};
    EXPECT_FALSE(database->choices(list)->has_value());
    ASSERT_TRUE(database->put_choices(list, {}).ok());
    EXPECT_TRUE(database->choices(list)->has_value());
}

TEST_F(DatabaseFile, SurvivesAKillAtAnyMoment) {
    for (int round = 0; round < 8; ++round) {
        int pipe_ends[2];
        ASSERT_EQ(::pipe(pipe_ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {  // puts entries and reports each, until it is killed
            auto database = Database::open(path_);
            for (int i = 0; database.ok(); ++i) {
                if (!database->put(key(round * 1'000'000 + i), entry(i)).ok()) ::_exit(1);
                if (::write(pipe_ends[1], &i, sizeof i) != sizeof i) ::_exit(1);
            }
            ::_exit(1);
        }
        ::close(pipe_ends[1]);
        int last = -1;
        for (int i = 0; i < 5 + 7 * round; ++i)
            ASSERT_EQ(::read(pipe_ends[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (::read(pipe_ends[0], &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
        }
        ::close(pipe_ends[0]);
        auto database = Database::open(path_);
        ASSERT_TRUE(database.ok());
        for (int i = 0; i <= last; ++i)
            ASSERT_TRUE(database->get(key(round * 1'000'000 + i))->has_value()) << i;
    }
}

TEST_F(DatabaseFile, TwoProcessesWriteAtOnce) {
    constexpr int each = 200;
    std::vector<pid_t> children;
    for (int process = 0; process < 2; ++process) {
        const pid_t child = ::fork();
        if (child == 0) {
            auto database = Database::open(path_);
            bool fine = database.ok();
            for (int i = 0; fine && i < each; ++i)
                fine = database->put(key(process * each + i), entry(i)).ok();
            ::_exit(fine ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_EQ(*Database::open(path_)->entry_count(), 2 * each);
}

TEST_F(DatabaseFile, AFullDiskIsAnErrorAndLosesNothing) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        auto database = Database::open(path_);
        bool fine = database.ok() && database->put(key(0), entry(1)).ok();
        const rlimit limit{200'000, 200'000};  // files may not grow beyond this, as on a full disk
        ::setrlimit(RLIMIT_FSIZE, &limit);
        bool refused = false;
        for (int i = 1; fine && i < 100'000 && !refused; ++i) {
            const auto put = database->put(key(i), entry(i));
            if (!put.ok()) {
                refused = true;
                fine = put.error().code == ErrorCode::disk_full;
            }
        }
        ::_exit(fine && refused ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    auto database = Database::open(path_);
    ASSERT_TRUE(database.ok());
    EXPECT_TRUE(database->get(key(0))->has_value());
    EXPECT_TRUE(database->put(key(-1), entry(1)).ok());
}

TEST_F(DatabaseFile, OtherFilesAreRefused) {
    std::filesystem::create_directories(path_.parent_path());
    ASSERT_TRUE(write_file(path_, std::string(5000, 'x')).ok());
    EXPECT_EQ(Database::open(path_).error().code, ErrorCode::malformed);
    EXPECT_EQ(Database::open("/proc/no/such.db").error().code, ErrorCode::file_not_writable);
}

}  // namespace
}  // namespace viridian::cost
