#include "viridian/cost/database.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <cmath>

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/random.hpp"
#include "viridian/cost/residuals.hpp"

namespace viridian::cost {
namespace {

Key key(int number) {
    return {fmt::format("Conv {}", number),
            "dnnl (nchw:f32) -> (nchw:f32)",
            "cpu-1",
            "dnnl 2.6.3",
            2,
            1,
            "powercap cpu:0"};
}

Entry entry(double seconds) {
    Entry entry;
    entry.minimum = entry.median = entry.low = entry.high = Seconds(seconds);
    entry.count = 7;
    entry.energy = Energy{Joules(seconds * 10),
                          Joules(seconds * 9),
                          Joules(seconds * 11),
                          {Provenance::Kind::measured, "powercap"}};
    entry.energy_looks = 1;
    entry.workspace = Bytes(64);
    entry.error = std::nan("");
    return entry;
}

class DatabaseFile : public testing::Test {
  protected:
    const tests::TemporaryFolder folder_;
    const Path path_ = folder_ / "deep" / "cost.db";
};

// Joules of two meters, and those of none, are apart; seconds are not.
TEST_F(DatabaseFile, JoulesBelongToTheirMeter) {
    auto database = Database::open(path_);
    ASSERT_TRUE(database.ok());
    Key none = key(1), other = key(1);
    none.meter = "";
    other.meter = "perf cpu:0";
    ASSERT_TRUE(database->put(key(1), entry(0.5)).ok());
    for (const Key& asked : {none, other}) {
        const auto found = database->get(asked);
        ASSERT_TRUE(found.ok() && found->has_value());
        EXPECT_EQ((*found)->median, Seconds(0.5));
        EXPECT_FALSE((*found)->energy.has_value());
        EXPECT_FALSE(database->get_all(asked)->front().second.energy.has_value());
    }
    Entry timed_only = entry(0.25);
    timed_only.energy.reset();
    ASSERT_TRUE(database->put(none, timed_only).ok());
    const auto found = database->get(key(1));
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->median, Seconds(0.25));
    EXPECT_EQ((*found)->energy->value, Joules(5));
}

// A file as an older version wrote it, with one entry, one list of choices and one residual.
void write_old_file(const Path& path, int version) {
    std::filesystem::create_directories(path.parent_path());
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    const Key k = key(1);
    const std::string sql = fmt::format(
        R"(create table entry (
            subject text not null, device text not null, library text not null, threads integer not null,
            protocol integer not null, choice text not null, minimum real not null, median real not null,
            low real not null, high real not null, count integer not null, joules real not null,
            joules_low real not null, joules_high real not null, provenance text not null,
            workspace integer not null, error real{},
            primary key (subject, device, library, threads, protocol, choice)) without rowid;
        insert into entry values ('{}', '{}', '{}', 2, 1, '{}', 0.5, 0.5, 0.5, 0.5, 7, 3.5, 1.75, 7,
            'estimated:cpu-linear', 64, 0{});
        create table choice_list (
            subject text not null, device text not null, library text not null, threads integer not null,{}
            allowances text not null, choices text not null,
            primary key (subject, device, library, threads,{} allowances)) without rowid;
        insert into choice_list values ('s', 'd', 'l', 2,{} 'f32', '[]');
        create table residual (
            id integer primary key, at text not null default current_timestamp, model text not null,
            plan text not null, device text not null, threads integer not null, predicted real not null,
            ran real not null);
        insert into residual (model, plan, device, threads, predicted, ran) values ('m', 'p', 'cpu-1', 2, 1, 1);
        pragma user_version = {};)",
        version >= 2 ? ", looks integer not null default 1" : "", k.subject, k.device, k.library, k.choice,
        version >= 2 ? ", 5" : "", version >= 3 ? " protocol integer not null," : "",
        version >= 3 ? " protocol," : "", version >= 3 ? " 1," : "", version);
    EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
    sqlite3_close(raw);
}

// Seconds stay. Joules of a model are computed from them and residuals meant something else, so both go; up
// to version 2 an error of 0 stood where nothing had been compared, and lists were kept under no protocol.
TEST_F(DatabaseFile, FilesOfOlderVersionsKeepTheirSeconds) {
    for (const int version : {1, 2, 3}) {
        SCOPED_TRACE(version);
        std::filesystem::remove_all(path_.parent_path());
        write_old_file(path_, version);
        auto database = Database::open(path_);
        ASSERT_TRUE(database.ok()) << database.error().text();
        auto found = database->get(key(1));
        ASSERT_TRUE(found.ok() && found->has_value());
        EXPECT_EQ((*found)->median, Seconds(0.5));
        EXPECT_EQ((*found)->looks, version == 1 ? 1 : 5);
        EXPECT_EQ(std::isnan((*found)->error), version < 3);
        EXPECT_FALSE((*found)->energy.has_value());
        EXPECT_TRUE(database->residuals("cpu-1")->empty());
        const ListKey list{"s", "d", "l", 2, 1, "f32"};
        EXPECT_EQ(database->choices(list)->has_value(), version == 3);
        ASSERT_TRUE(database->put_choices(list, {}).ok());
        (*found)->looks = 9;
        ASSERT_TRUE(database->put(key(1), **found).ok());
        EXPECT_EQ((*Database::open(path_)->get(key(1)))->looks, 9);
        EXPECT_TRUE(Database::open(path_)->choices(list)->has_value());
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
        ASSERT_TRUE(
            database->put_residual({"m", "p", "cpu-1", 2, Seconds(1), Seconds(1.2), Seconds(1.25), "", 1.1})
                .ok());
    }
    auto database = Database::open(path_);
    ASSERT_TRUE(database.ok());
    const auto found = database->get(key(1));
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->median, Seconds(0.5));
    ASSERT_TRUE((*found)->energy.has_value());
    EXPECT_EQ((*found)->energy->provenance.text(), "measured:powercap");
    EXPECT_TRUE(std::isnan((*found)->error));
    EXPECT_FALSE(database->get(key(2))->has_value());
    EXPECT_EQ(database->get_all(key(1))->size(), 1U);
    const auto list = database->choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 1, "f32"});
    ASSERT_TRUE(list.ok() && list->has_value());
    EXPECT_EQ((**list)[0].kernel, "k");
    EXPECT_FALSE(database->choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 1, "f32,bf16"})->has_value());
    EXPECT_FALSE(database->choices({"Conv 1", "cpu-1", "dnnl 2.6.3", 2, 2, "f32"})->has_value())
        << "made under another protocol";
    const auto residuals = database->residuals("cpu-1");
    ASSERT_TRUE(residuals.ok() && residuals->size() == 1U);
    EXPECT_EQ(residuals->front().predicted, Seconds(1));
    EXPECT_EQ(residuals->front().kernels, Seconds(1.2));
    EXPECT_EQ(residuals->front().ran, Seconds(1.25));
    EXPECT_FALSE(residuals->front().at.empty());
    EXPECT_EQ(residuals->front().correction, 1.1);
}

TEST_F(DatabaseFile, ResidualsOfTheFourthVersionHadNoCorrection) {
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(database.ok());
        ASSERT_TRUE(database->put(key(1), entry(0.5)).ok());
        ASSERT_TRUE(
            database->put_residual({"m", "p", "cpu-1", 2, Seconds(1), Seconds(1.2), Seconds(1.25), ""}).ok());
    }
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, "alter table residual drop column correction; pragma user_version = 4;",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(raw);
    auto database = Database::open(path_);
    ASSERT_TRUE(database.ok()) << database.error().text();
    EXPECT_TRUE(database->get(key(1))->has_value());
    const auto residuals = database->residuals("cpu-1");
    ASSERT_TRUE(residuals.ok() && residuals->size() == 1U);
    EXPECT_EQ(residuals->front().ran, Seconds(1.25));
    EXPECT_EQ(residuals->front().correction, 1);
}

TEST(Residuals, TheCorrectionIsTheMedianOverModelsOfTheirLastRuns) {
    const auto residual = [](std::string model, double predicted, double ran, double correction = 1) {
        return Residual{std::move(model), "",           "cpu-1", 2,         Seconds(predicted),
                        Seconds(ran),     Seconds(ran), "",      correction};
    };
    std::vector<Residual> all = {residual("a", 1, 1.3), residual("a", 1, 1.1), residual("b", 2, 2.4)};
    EXPECT_EQ(correction_of(all, 2), 1) << "two models are too few";
    all.push_back(residual("c", 1, 0));  // says nothing
    EXPECT_EQ(correction_of(all, 2), 1);
    all.push_back(residual("c", 1.1, 1.05, 1.1));
    EXPECT_NEAR(correction_of(all, 2), 1.1, 1e-12) << "what was corrected is taken back first";
    all.push_back(residual("b", 2, 8));
    all.push_back(residual("a", 2, 9));
    EXPECT_EQ(correction_of(all, 2), most_correction);
    EXPECT_EQ(correction_of(all, 1), 1) << "runs on other numbers of threads say nothing";
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

// A view under a table's name could compute for ever, and a trigger could change what is stored.
TEST_F(DatabaseFile, ProgramsInTheFileAreRefused) {
    for (const std::string program :
         {"drop table residual; create view residual as with recursive n(i) as (select 1 union all select i "
          "+ "
          "1 from n) select i as id, 'm' as model from n",
          "create trigger spoil after insert on entry begin delete from energy; end"}) {
        ASSERT_TRUE(Database::open(path_).ok());
        sqlite3* raw = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(raw, program.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(raw);
        const auto opened = Database::open(path_);
        ASSERT_FALSE(opened.ok()) << program;
        EXPECT_EQ(opened.error().code, ErrorCode::malformed);
        const bool view = program.find("view") != std::string::npos;
        EXPECT_EQ(opened.error().message,
                  fmt::format("`{}` is not a cost database: it holds the {}, and cost databases hold stored "
                              "tables alone",
                              path_.string(), view ? "view `residual`" : "trigger `spoil`"));
        std::filesystem::remove_all(path_.parent_path());
    }
}

// A file with some bytes changed gives what is left of it, or an error with a next step.
TEST_F(DatabaseFile, DamagedFilesAreAnErrorOrRead) {
    {
        auto whole = Database::open(path_);
        ASSERT_TRUE(whole.ok());
        for (int i = 0; i < 40; ++i) ASSERT_TRUE(whole->put(key(i), entry(i + 1)).ok());
        plan::Choice choice;
        choice.kernel = "k";
        ASSERT_TRUE(whole->put_choices({"s", "d", "l", 2, 1, "f32"}, {choice}).ok());
        ASSERT_TRUE(whole->put_residual({"m", "p", "cpu-1", 2, Seconds(1), Seconds(1), Seconds(1), ""}).ok());
    }
    const auto bytes = read_file(path_);
    ASSERT_TRUE(bytes.ok());
    Random random(5);
    int read = 0, refused = 0;
    for (int round = 0; round < 600; ++round) {
        std::string damaged = *bytes;
        for (std::uint64_t edits = 1 + random.below(8); edits > 0; --edits) {
            const std::size_t at = random.below(random.chance(0.3) ? 200 : damaged.size());
            damaged[at] = static_cast<char>(random.below(256));
        }
        if (random.chance(0.1)) damaged.resize(random.below(damaged.size()));
        for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
        ASSERT_TRUE(write_file(path_, damaged).ok());
        const auto count = [&](const auto& result) {
            ++(result.ok() ? read : refused);
            if (!result.ok()) {
                EXPECT_NE(result.error().kind(), ErrorKind::bug) << result.error().text();
                EXPECT_FALSE(result.error().next_step.empty()) << result.error().message;
            }
        };
        auto database = Database::open(path_);
        count(database);
        if (!database.ok()) continue;
        for (int i = 0; i < 40; i += 7) count(database->get(key(i)));
        count(database->get_all(key(1)));
        count(database->choices({"s", "d", "l", 2, 1, "f32"}));
        count(database->residuals("cpu-1"));
        count(database->entry_count());
        count(database->put(key(3), entry(1)));
    }
    EXPECT_GT(read, 600);
    EXPECT_GT(refused, 60);
}

}  // namespace
}  // namespace viridian::cost
