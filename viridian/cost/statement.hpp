#pragma once
// A Statement wraps a prepared SQLite statement: bind its parameters, step to a row, read its columns.
#include <sqlite3.h>

#include <string>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian::cost {

class Statement {
  public:
    // Prepares one statement of SQL. Errors: those of sqlite_error().
    [[nodiscard]] static Result<Statement> prepare(sqlite3* handle, std::string_view sql);
    Statement(Statement&& other) noexcept
        : handle_(other.handle_), statement_(std::exchange(other.statement_, nullptr)) {}
    Statement& operator=(Statement&&) = delete;
    ~Statement() { sqlite3_finalize(statement_); }

    // Binds the next parameter, in the order of the question marks.
    Statement& bind(std::string_view text);
    Statement& bind(double number);
    Statement& bind(std::int64_t number);
    Statement& bind(int number) { return bind(static_cast<std::int64_t>(number)); }

    // Goes to the next row. Returns false if there is none. Errors: those of sqlite_error().
    [[nodiscard]] Result<bool> step();
    // These read a column of the row, counted from 0.
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] double number(int column) const;  // NULL is NaN
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] bool is_null(int column) const;

  private:
    Statement(sqlite3* handle, sqlite3_stmt* statement) : handle_(handle), statement_(statement) {}
    sqlite3* handle_;
    sqlite3_stmt* statement_;
    int next_ = 1;
};

// Returns the error that SQLite last reported while `doing` something: disk_full, file_not_writable (also for
// want of permission), malformed (not a database), else device_failed (also if another process holds the
// lock).
[[nodiscard]] Error sqlite_error(sqlite3* handle, std::string_view doing);
// Runs statements without parameters or rows. Errors: those of sqlite_error().
[[nodiscard]] Result<void> execute_sql(sqlite3* handle, const char* sql);

}  // namespace viridian::cost
