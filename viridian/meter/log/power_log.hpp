#pragma once
// Reads and writes the power log (docs/meter.md): CSV `time_ns,meter,device,scope,kind,value,window_ns`, in
// which lines of metadata start with `#`. `record` writes it, `account --power` reads it, and anyone can make
// one.
//
//     # wrap_uj <meter> <device> <scope> <N>     a counter returns to 0 after N microjoules
//     # monotonic_offset_ns <N>                  Unix time minus monotonic time, at the start and each step
//     # recorded_by <program> [<version>]        without it, its joules are `logged`, not `measured`
#include <memory>
#include <span>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/meter/sample.hpp"

namespace viridian::meter {

inline constexpr std::string_view power_log_header = "time_ns,meter,device,scope,kind,value,window_ns";

struct Reading {
    std::int64_t time_ns = 0;    // Unix time
    std::int64_t value = 0;      // in the unit of the channel's kind (sample.hpp)
    std::int64_t window_ns = 0;  // of a mean; 0: unknown
    bool operator==(const Reading&) const = default;
};

// A Series holds all readings of one channel.
struct Series {
    Channel channel;
    std::vector<Reading> readings;  // in time order
    // Indices of readings before which others were dropped as out of order: the clock was set back.
    std::vector<std::size_t> broken = {};
};

struct Notice {  // one kind of defect, however often it occurred
    std::string what;
    std::uint64_t count = 0;
};

struct PowerLog {
    std::vector<Series> series;
    std::string recorded_by;            // the program that wrote it; "" if it does not say
    std::vector<std::string> metadata;  // comment lines not understood here, without "# "
    std::vector<Notice> warnings;
    std::uint64_t clock_steps = 0;  // times when the clock was set; times are as if it had not been set

    // Returns the series of a channel, or nullptr.
    [[nodiscard]] const Series* find(std::string_view device, Scope scope, Kind kind) const;
};

// Reads a log from the file `path`, which may be gzipped, or from `text`: ours, or one of another program
// (viridian/meter/foreign). `offset_ns` is added to all times. Errors: malformed (with the line's number; a
// cut last line is a warning), invalid_argument (another program's log does not tell its times),
// file_not_found, file_unreadable, limit_exceeded. More than 1 % of readings out of order is malformed; fewer
// are dropped and counted.
[[nodiscard]] Result<PowerLog> read_power_log(const Path& path,
                                              std::optional<std::int64_t> offset_ns = std::nullopt);
[[nodiscard]] Result<PowerLog> parse_power_log(std::string_view text, std::string_view name,
                                               std::optional<std::int64_t> offset_ns = std::nullopt);

// Writes whole lines only. When the disk is full it cuts the file after the last whole line and every later
// `add` repeats the error: what was written stays readable.
class PowerLogWriter {
  public:
    // Creates the file and writes its header. Errors: file_not_writable.
    [[nodiscard]] static Result<PowerLogWriter> create(const Path& path);
    // Writes `samples`, whose channels are indices into `channels`. Errors, here and below: disk_full,
    // file_not_writable.
    [[nodiscard]] Result<void> add(const std::vector<Channel>& channels, std::span<const Sample> samples);
    [[nodiscard]] Result<void> note(std::string_view text);  // writes the line "# text"
    [[nodiscard]] Result<void> flush();                      // writes the lines held in memory

  private:
    struct State;
    explicit PowerLogWriter(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace viridian::meter
