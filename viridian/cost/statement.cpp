#include "viridian/cost/statement.hpp"

#include <cmath>

namespace viridian::cost {

Error sqlite_error(sqlite3* handle, std::string_view doing) {
    const int code = sqlite3_errcode(handle) & 0xff;
    const char* file = sqlite3_db_filename(handle, "main");
    const std::string name = file == nullptr || *file == '\0' ? "in memory" : fmt::format("`{}`", file);
    const std::string why = sqlite3_errmsg(handle);
    switch (code) {
        case SQLITE_FULL:
        case SQLITE_IOERR:
            return fail(ErrorCode::disk_full,
                        "free some space and run again; what was measured before is kept",
                        "the cost database {} cannot grow while {}: {}", name, doing, why);
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            return fail(ErrorCode::malformed, "move it away or choose another with --db",
                        "{} is not a cost database ({})", name, why);
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
            return fail(ErrorCode::file_not_writable,
                        "check the folder's permissions or choose another with --db",
                        "cannot write the cost database {}: {}", name, why);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return fail(ErrorCode::device_failed, "wait for the other process, then run again",
                        "the cost database {} is locked by another process", name);
        default:
            return fail(ErrorCode::device_failed, "check the disk or choose another with --db",
                        "the cost database {} failed while {}: {}", name, doing, why);
    }
}

Result<void> execute_sql(sqlite3* handle, const char* sql) {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return sqlite_error(handle, "preparing it");
    return {};
}

Result<Statement> Statement::prepare(sqlite3* handle, std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
        SQLITE_OK)
        return sqlite_error(handle, "reading it");
    return Statement(handle, statement);
}

Statement& Statement::bind(std::string_view text) {
    sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(double number) {
    if (std::isnan(number))
        sqlite3_bind_null(statement_, next_++);
    else
        sqlite3_bind_double(statement_, next_++, number);
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    sqlite3_bind_int64(statement_, next_++, number);
    return *this;
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return sqlite_error(handle_, "using it");
}

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

double Statement::number(int column) const {
    if (is_null(column)) return std::nan("");
    return sqlite3_column_double(statement_, column);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

}  // namespace viridian::cost
