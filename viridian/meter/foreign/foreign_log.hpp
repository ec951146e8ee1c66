#pragma once
// Reads the power logs that other programs write (docs/meter.md, "Logs of other programs"). A format has a
// source of its own; foreign_log.cpp lists all. To add one: its source, one line in the list, a sample in
// tests/meter/foreign_log_test.cpp. The end of a source's first comment is the format's row in docs/meter.md.
#include <optional>
#include <span>
#include <string_view>

#include "viridian/meter/log/power_log.hpp"

namespace viridian::meter {

// ForeignText is a log of another program.
struct ForeignText {
    std::string_view text;
    std::string_view name;                  // of the file, for errors
    std::optional<std::int64_t> offset_ns;  // what the user says must be added to its times
};

struct ForeignFormat {
    std::string_view name;                      // the program that writes it
    bool (*recognises)(std::string_view head);  // `head` is the beginning of the text, at most 64 KiB
    // Errors: malformed (with the line's number), invalid_argument (the log does not tell its times).
    Result<PowerLog> (*read)(const ForeignText& log);
};

// Returns all formats, in the order in which they are tried.
[[nodiscard]] std::span<const ForeignFormat> foreign_formats();

// Returns the format of `text`, or nullptr.
[[nodiscard]] const ForeignFormat* foreign_format_of(std::string_view text);

}  // namespace viridian::meter
