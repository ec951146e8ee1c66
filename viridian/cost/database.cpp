#include "viridian/cost/database.hpp"

#include "viridian/base/json.hpp"

#include "viridian/cost/statement.hpp"

namespace viridian::cost {
namespace {

constexpr int schema_version = 5;

// WITHOUT ROWID keeps a subject's entries side by side: one look-up reads them all.
constexpr const char* schema = R"(
create table if not exists entry (
    subject text not null, device text not null, library text not null, threads integer not null,
    protocol integer not null, choice text not null,
    minimum real not null, median real not null, low real not null, high real not null, count integer not null,
    workspace integer not null, error real, looks integer not null default 1,
    arithmetic real not null default 0, memory real not null default 0,
    primary key (subject, device, library, threads, protocol, choice)) without rowid;
create table if not exists energy (
    subject text not null, device text not null, library text not null, threads integer not null,
    protocol integer not null, choice text not null, meter text not null,
    joules real not null, joules_low real not null, joules_high real not null, provenance text not null,
    energy_looks integer not null,
    primary key (subject, device, library, threads, protocol, choice, meter)) without rowid;
create table if not exists choice_list (
    subject text not null, device text not null, library text not null, threads integer not null,
    protocol integer not null, allowances text not null, choices text not null,
    primary key (subject, device, library, threads, protocol, allowances)) without rowid;
create table if not exists residual (
    id integer primary key, at text not null default current_timestamp, model text not null, plan text not null,
    device text not null, threads integer not null, predicted real not null, kernels real not null,
    ran real not null, correction real not null default 1);
)";

// An entry's columns as read_entry() reads them, with the joules of the meter that the first parameter names.
constexpr std::string_view find_entries =
    "select entry.choice, minimum, median, low, high, count, workspace, error, looks, joules, joules_low, "
    "joules_high, provenance, energy_looks, arithmetic, memory from entry left join energy on energy.subject "
    "= entry.subject and "
    "energy.device = entry.device and energy.library = entry.library and energy.threads = entry.threads and "
    "energy.protocol = entry.protocol and energy.choice = entry.choice and energy.meter = ? "
    "where entry.subject = ? and entry.device = ? and entry.library = ? and entry.threads = ? and "
    "entry.protocol = ?";

// What version 1 lacked.
constexpr const char* from_first_version = "alter table entry add column looks integer not null default 1;";

// Up to version 2 an error of 0 stood where nothing had been compared, and lists of choices outlived the
// protocol they were made under: they are asked for again.
constexpr const char* from_second_version =
    "update entry set error = null; drop table if exists choice_list;";

// Up to version 3 the joules of any meter or model stood in the entry, the state of the machine did not, and
// a residual held the kernels' times as its prediction.
constexpr const char* from_third_version = R"(
alter table entry drop column joules; alter table entry drop column joules_low;
alter table entry drop column joules_high; alter table entry drop column provenance;
alter table entry add column arithmetic real not null default 0;
alter table entry add column memory real not null default 0;
drop table residual;
)";

// Version 4 multiplied no sum of prices.
constexpr const char* from_fourth_version =
    "alter table residual add column correction real not null default 1;";

std::string change_from(std::int64_t version) {
    if (version == 0) return schema;
    if (version == 4) return from_fourth_version;
    return fmt::format("{} {} {} {}", version == 1 ? from_first_version : "",
                       version <= 2 ? from_second_version : "", from_third_version, schema);
}

// Its own function, so that its read transaction ends before anything is written.
Result<std::int64_t> version_of(sqlite3* handle) {
    VIRIDIAN_TRY(Statement version, Statement::prepare(handle, "pragma user_version"));
    VIRIDIAN_TRY(version.step());
    return version.integer(0);
}

// Another process may do the same: whoever comes second finds it done.
Result<void> bring_up_to_date(sqlite3* handle) {
    VIRIDIAN_TRY(execute_sql(handle, "begin immediate"));
    const auto version = version_of(handle);
    const std::string change =
        !version.ok() || *version == schema_version
            ? std::string("commit")
            : fmt::format("{} pragma user_version = {}; commit;", change_from(*version), schema_version);
    auto done = execute_sql(handle, change.c_str());
    if (!done.ok()) (void)execute_sql(handle, "rollback");
    return done;
}

// Views, triggers and virtual tables are programs of whoever wrote the file, and may run for ever. They have
// no page of their own.
Result<void> refuse_programs(sqlite3* handle, const std::string& name) {
    VIRIDIAN_TRY(Statement find, Statement::prepare(handle,
                                                    "select type, name from sqlite_schema where "
                                                    "ifnull(rootpage, 0) = 0 limit 1"));
    VIRIDIAN_TRY(const bool found, find.step());
    if (found)
        return fail(ErrorCode::malformed, "move the file away, or choose another with --db",
                    "`{}` is not a cost database: it holds the {} `{}`, and cost databases hold stored "
                    "tables alone",
                    name, find.text(0), find.text(1));
    return {};
}

Result<Entry> read_entry(const Statement& row) {
    Entry entry;
    entry.minimum = Seconds(row.number(1));
    entry.median = Seconds(row.number(2));
    entry.low = Seconds(row.number(3));
    entry.high = Seconds(row.number(4));
    entry.count = row.integer(5);
    entry.workspace = Bytes(row.integer(6));
    entry.error = row.number(7);
    entry.looks = row.integer(8);
    entry.probes = {Seconds(row.number(14)), Seconds(row.number(15))};
    for (const Seconds seconds :
         {entry.minimum, entry.median, entry.low, entry.high, entry.probes.arithmetic, entry.probes.memory})
        if (!(seconds.value >= 0 && seconds.value < 1e9))
            return fail(ErrorCode::malformed, "move the file away, or choose another with --db",
                        "the cost database holds a price that is no time: {} s", seconds.value);
    if (row.is_null(9)) return entry;
    const Json energy = {{"value", row.number(9)},
                         {"low", row.number(10)},
                         {"high", row.number(11)},
                         {"provenance", row.text(12)}};
    VIRIDIAN_TRY(entry.energy, energy_from_json(energy));
    entry.energy_looks = row.integer(13);
    return entry;
}

// What every key begins with.
template <class AnyKey>
Statement& bind_conditions(Statement& statement, const AnyKey& key) {
    return statement.bind(key.subject)
        .bind(key.device)
        .bind(key.library)
        .bind(key.threads)
        .bind(key.protocol);
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const Path& path) {
    std::error_code ignored;  // an impossible folder shows when the file is opened
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    return open_name(path.string());
}

Result<Database> Database::temporary() { return open_name(":memory:"); }

Result<Database> Database::open_name(const std::string& name) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    std::unique_ptr<sqlite3, Close> handle(raw);
    if (code != SQLITE_OK)
        return fail(ErrorCode::file_not_writable,
                    "check the folder's permissions or choose another with --db",
                    "cannot open the cost database `{}`", name);
    sqlite3_busy_timeout(raw, 10'000);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    // WAL with normal syncing: a kill loses nothing that was put; a power cut at most the last puts.
    // Two processes that switch a new file to WAL at once collide without waiting: try again for a second.
    auto switched = execute_sql(raw, "pragma journal_mode = wal; pragma synchronous = normal;");
    for (int i = 0; i < 100 && !switched.ok() && (sqlite3_errcode(raw) & 0xff) == SQLITE_BUSY; ++i) {
        sqlite3_sleep(10);
        switched = execute_sql(raw, "pragma journal_mode = wal; pragma synchronous = normal;");
    }
    VIRIDIAN_TRY(std::move(switched));
    VIRIDIAN_TRY(const std::int64_t version, version_of(raw));
    if (version > schema_version)
        return fail(ErrorCode::mismatch, "use that version, or choose another file with --db",
                    "the cost database `{}` was written by a newer version", name);
    VIRIDIAN_TRY(refuse_programs(raw, name));
    if (version < schema_version) {
        VIRIDIAN_TRY(bring_up_to_date(raw));
    }
    return Database(std::move(handle));
}

Result<std::optional<Entry>> Database::get(const Key& key) const {
    VIRIDIAN_TRY(Statement find,
                 Statement::prepare(handle_.get(), fmt::format("{} and entry.choice = ?", find_entries)));
    find.bind(key.meter);
    bind_conditions(find, key).bind(key.choice);
    VIRIDIAN_TRY(const bool found, find.step());
    if (!found) return std::optional<Entry>();
    VIRIDIAN_TRY(Entry entry, read_entry(find));
    return std::optional(std::move(entry));
}

Result<std::vector<std::pair<std::string, Entry>>> Database::get_all(const Key& key) const {
    VIRIDIAN_TRY(Statement find, Statement::prepare(handle_.get(), find_entries));
    find.bind(key.meter);
    bind_conditions(find, key);
    std::vector<std::pair<std::string, Entry>> entries;
    for (;;) {
        VIRIDIAN_TRY(const bool found, find.step());
        if (!found) return entries;
        VIRIDIAN_TRY(Entry entry, read_entry(find));
        entries.emplace_back(find.text(0), std::move(entry));
    }
}

Result<void> Database::put(const Key& key, const Entry& entry) {
    VIRIDIAN_TRY(Statement put,
                 Statement::prepare(handle_.get(),
                                    "insert or replace into entry values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
    bind_conditions(put, key).bind(key.choice);
    put.bind(entry.minimum.value)
        .bind(entry.median.value)
        .bind(entry.low.value)
        .bind(entry.high.value)
        .bind(entry.count);
    put.bind(entry.workspace.value).bind(entry.error).bind(entry.looks);
    put.bind(entry.probes.arithmetic.value).bind(entry.probes.memory.value);
    if (!entry.energy) {
        VIRIDIAN_TRY(put.step());
        return {};
    }
    invariant(!key.meter.empty(), "joules are stored under the meter that gave them");
    VIRIDIAN_TRY(
        Statement joules,
        Statement::prepare(handle_.get(), "insert or replace into energy values (?,?,?,?,?,?,?,?,?,?,?,?)"));
    bind_conditions(joules, key).bind(key.choice).bind(key.meter);
    joules.bind(entry.energy->value.value).bind(entry.energy->low.value).bind(entry.energy->high.value);
    joules.bind(entry.energy->provenance.text()).bind(entry.energy_looks);
    VIRIDIAN_TRY(execute_sql(handle_.get(), "begin immediate"));
    auto done = put.step();
    if (done.ok()) done = joules.step();
    VIRIDIAN_TRY(execute_sql(handle_.get(), done.ok() ? "commit" : "rollback"));
    if (!done.ok()) return std::move(done).error();
    return {};
}

Result<std::optional<std::vector<plan::Choice>>> Database::choices(const ListKey& key) const {
    VIRIDIAN_TRY(Statement find,
                 Statement::prepare(handle_.get(),
                                    "select choices from choice_list where subject = ? and device = ? "
                                    "and library = ? and threads = ? and protocol = ? and allowances = ?"));
    bind_conditions(find, key).bind(key.allowances);
    VIRIDIAN_TRY(const bool found, find.step());
    if (!found) return std::optional<std::vector<plan::Choice>>();
    VIRIDIAN_TRY(const Json list, parse_json(find.text(0), "the cost database"));
    std::vector<plan::Choice> choices;
    for (const Json& item : list) {
        VIRIDIAN_TRY(plan::Choice choice, plan::choice_from_json(item));
        choices.push_back(std::move(choice));
    }
    return std::optional(std::move(choices));
}

Result<void> Database::put_choices(const ListKey& key, const std::vector<plan::Choice>& choices) {
    Json list = Json::array();
    for (const plan::Choice& choice : choices) list.push_back(plan::to_json(choice));
    VIRIDIAN_TRY(
        Statement put,
        Statement::prepare(handle_.get(), "insert or replace into choice_list values (?,?,?,?,?,?,?)"));
    bind_conditions(put, key).bind(key.allowances).bind(list.dump());
    VIRIDIAN_TRY(put.step());
    return {};
}

Result<void> Database::put_residual(const Residual& residual) {
    VIRIDIAN_TRY(Statement put,
                 Statement::prepare(handle_.get(),
                                    "insert into residual (model, plan, device, threads, predicted, kernels, "
                                    "ran, correction) values (?,?,?,?,?,?,?,?)"));
    put.bind(residual.model).bind(residual.plan).bind(residual.device).bind(residual.threads);
    put.bind(residual.predicted.value).bind(residual.kernels.value).bind(residual.ran.value);
    put.bind(residual.correction);
    VIRIDIAN_TRY(put.step());
    return {};
}

Result<std::vector<Residual>> Database::residuals(const std::string& device) const {
    VIRIDIAN_TRY(Statement find,
                 Statement::prepare(
                     handle_.get(),
                     "select model, plan, device, threads, predicted, kernels, ran, at, correction from "
                     "residual where device = ? order by id"));
    find.bind(device);
    std::vector<Residual> all;
    for (;;) {
        VIRIDIAN_TRY(const bool found, find.step());
        if (!found) return all;
        all.push_back({find.text(0), find.text(1), find.text(2), static_cast<int>(find.integer(3)),
                       Seconds(find.number(4)), Seconds(find.number(5)), Seconds(find.number(6)),
                       find.text(7), find.number(8)});
    }
}

Result<ProbeTimes> Database::fastest_probes(const std::string& device, int threads) const {
    VIRIDIAN_TRY(Statement find,
                 Statement::prepare(handle_.get(),
                                    "select min(arithmetic), min(memory) from entry where device = ? and "
                                    "threads = ? and arithmetic > 0 and memory > 0"));
    find.bind(device).bind(threads);
    VIRIDIAN_TRY(const bool found, find.step());
    if (!found) return ProbeTimes{};
    return ProbeTimes{Seconds(find.number(0)), Seconds(find.number(1))};
}

Result<std::int64_t> Database::entry_count() const {
    VIRIDIAN_TRY(Statement count, Statement::prepare(handle_.get(), "select count(*) from entry"));
    VIRIDIAN_TRY(count.step());
    return count.integer(0);
}

}  // namespace viridian::cost
