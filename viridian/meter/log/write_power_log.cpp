#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "viridian/base/system/transfer.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::meter {
namespace {

// By hand: this runs 250 times a second beside the program that is measured.
void append(std::string& line, std::string_view text, char end) {
    line += text;
    line += end;
}

void append(std::string& line, std::int64_t number, char end) {
    std::array<char, 24> digits;
    const auto [last, fault] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    append(line, {digits.data(), static_cast<std::size_t>(last - digits.data())}, end);
}

}  // namespace

struct PowerLogWriter::State {
    Path path;
    int file = -1;
    off_t written = 0;
    std::string buffer;
    std::optional<Error> failed;

    ~State() {
        if (file >= 0) ::close(file);
    }

    Result<void> flush() {
        if (failed) return *failed;
        const Transfer moved = write_all(file, buffer);
        if (moved.fault != 0) return give_up(moved.fault, moved.bytes);
        written += static_cast<off_t>(moved.bytes);
        buffer.clear();
        return {};
    }

    // Half a line could read as a wrong number: cut after the last whole one.
    Error give_up(int code, std::size_t done) {
        const std::size_t line_end = done == 0 ? std::string::npos : buffer.rfind('\n', done - 1);
        const off_t whole = written + (line_end == std::string::npos ? 0 : static_cast<off_t>(line_end) + 1);
        if (::ftruncate(file, whole) == 0) written = whole;
        const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
        failed = fail(full ? ErrorCode::disk_full : ErrorCode::file_not_writable,
                      full ? "free some space; what was recorded until then is readable" : "check the disk",
                      "`{}` cannot grow: {}", path.string(), std::strerror(code));
        buffer.clear();
        return *failed;
    }
};

Result<PowerLogWriter> PowerLogWriter::create(const Path& path) {
    auto state = std::make_shared<State>();
    state->path = path;
    state->file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (state->file < 0)
        return fail(ErrorCode::file_not_writable, "choose another folder", "`{}` cannot be created: {}",
                    path.string(), std::strerror(errno));
    state->buffer.reserve(1U << 17);
    state->buffer +=
        fmt::format("# clock realtime\n# recorded_by viridian {}\n{}\n", VIRIDIAN_VERSION, power_log_header);
    return PowerLogWriter(std::move(state));
}

Result<void> PowerLogWriter::add(const std::vector<Channel>& channels, std::span<const Sample> samples) {
    if (state_->failed) return *state_->failed;
    std::string& line = state_->buffer;
    for (const Sample& sample : samples) {
        const Channel& channel = channels[sample.channel];
        append(line, sample.time_ns, ',');
        append(line, channel.meter, ',');
        append(line, channel.device, ',');
        append(line, name_of(channel.scope), ',');
        append(line, name_of(channel.kind), ',');
        append(line, sample.value, ',');
        append(line, sample.window_ns, '\n');
    }
    if (state_->buffer.size() < (1U << 16)) return {};
    return state_->flush();
}

Result<void> PowerLogWriter::note(std::string_view text) {
    if (state_->failed) return *state_->failed;
    std::string line(text);
    for (char& c : line)
        if (c == '\n' || c == '\r') c = ' ';
    state_->buffer += fmt::format("# {}\n", line);
    return {};
}

Result<void> PowerLogWriter::flush() { return state_->flush(); }

}  // namespace viridian::meter
