#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "viridian/meter/power_log.hpp"

namespace viridian::meter {

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
        std::size_t done = 0;
        while (done < buffer.size()) {
            const ssize_t size = ::write(file, buffer.data() + done, buffer.size() - done);
            if (size < 0 && errno == EINTR) continue;
            if (size <= 0) return give_up(size < 0 ? errno : ENOSPC, done);
            done += static_cast<std::size_t>(size);
        }
        written += static_cast<off_t>(done);
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
        return fail(ErrorCode::file_not_writable, "choose another folder with -o",
                    "`{}` cannot be created: {}", path.string(), std::strerror(errno));
    state->buffer = fmt::format("# clock realtime\n{}\n", power_log_header);
    return PowerLogWriter(std::move(state));
}

Result<void> PowerLogWriter::add(const std::vector<Channel>& channels, std::span<const Sample> samples) {
    if (state_->failed) return *state_->failed;
    for (const Sample& sample : samples) {
        const Channel& channel = channels[sample.channel];
        fmt::format_to(std::back_inserter(state_->buffer), "{},{},{},{},{},{},{}\n", sample.time_ns,
                       channel.meter, channel.device, name_of(channel.scope), name_of(channel.kind),
                       sample.value, sample.window_ns);
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
