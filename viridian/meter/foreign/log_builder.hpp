#pragma once
// What the readers of other programs' power logs share: the lines and fields of a text, its numbers and
// dates, and LogBuilder, which collects readings into a PowerLog.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/meter/foreign/foreign_log.hpp"

namespace viridian::meter {

// Lines hands out the lines of a text, without their ends and without spaces around them.
class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text) {}
    // Moves to the next line that is not empty; false at the end.
    bool next();
    [[nodiscard]] std::string_view line() const { return line_; }
    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] bool whole() const { return whole_; }  // the line has an end: it is not cut off

  private:
    std::string_view text_, line_;
    std::uint64_t number_ = 0;
    bool whole_ = true;
};

[[nodiscard]] std::string_view trimmed(std::string_view text);
// Returns the fields of a line of CSV, trimmed, without the quotes around a field.
[[nodiscard]] std::vector<std::string_view> csv_fields(std::string_view line, char separator = ',');
// Returns the words between spaces and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
// Returns the position of `name` in `fields`, or nothing.
[[nodiscard]] std::optional<std::size_t> position_of(std::string_view name,
                                                     const std::vector<std::string_view>& fields);
// Returns the finite number that is the whole of `text`, or nothing.
[[nodiscard]] std::optional<double> real_number(std::string_view text);
// Returns Unix time in nanoseconds of seconds since 1970, "1795501930.53"; nothing unless it lies after 2001
// and before 2040.
[[nodiscard]] std::optional<std::int64_t> unix_seconds(std::string_view text);
// Returns Unix time in nanoseconds of a date: "2026/11/24 06:31:02.123", "2026-11-24T06:31:02.123Z",
// "11/24/2026 06:31:02", "Tue Nov 24 06:31:02 2026". A date without a zone is local time of this machine
// (TZ).
[[nodiscard]] std::optional<std::int64_t> unix_date(std::string_view text);

// LogBuilder collects readings. Readings out of order of time are left out and counted.
class LogBuilder {
  public:
    // `meter` is the name of the program; it becomes the provenance `logged:<meter>`.
    LogBuilder(const ForeignText& log, std::string_view meter) : log_(log), meter_(meter) {}

    // Adds a power, in watts. `window_ns` is that of a mean, 0 if unknown.
    void power(const std::string& device, Scope scope, Kind kind, std::int64_t time_ns, double watts,
               std::int64_t window_ns = 0);
    // Adds a reading of a counter, in joules.
    void counter(const std::string& device, Scope scope, std::int64_t time_ns, double joules);
    // Adds the energy of a stretch of time, in joules.
    void stretch(const std::string& device, Scope scope, std::int64_t begin_ns, std::int64_t end_ns,
                 double joules);
    // Counts something that was left out.
    void warn(std::string_view what);
    // The error that the line `number` says something else than expected.
    [[nodiscard]] Error malformed(std::uint64_t number, std::string_view what) const;
    // Returns the log. Errors: malformed if no reading was found, or more than 1 % were out of order.
    [[nodiscard]] Result<PowerLog> finish();

  private:
    Series& series(const std::string& device, Scope scope, Kind kind);
    void add(Series& series, Reading reading);

    const ForeignText& log_;
    std::string meter_;
    PowerLog out_;
    std::map<std::string, std::size_t> index_;
    std::map<std::size_t, double> sums_;  // joules so far of a series of stretches
    std::uint64_t readings_ = 0, out_of_order_ = 0;
};

}  // namespace viridian::meter
