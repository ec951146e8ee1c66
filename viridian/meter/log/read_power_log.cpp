#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "viridian/meter/foreign/foreign_log.hpp"
#include "viridian/meter/log/gunzip.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::meter {
namespace {

constexpr std::int64_t read_power_log_far = std::int64_t{1}
                                            << 61;  // beyond the year 2040; keeps sums from overflowing

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    if (const auto [at, fault] = std::from_chars(text.data(), end, number); fault == std::errc{} && at == end)
        return number;
    double real = 0.0;  // other people's logs may say 12.5
    const auto [at, fault] = std::from_chars(text.data(), end, real);
    if (fault != std::errc{} || at != end || !(std::abs(real) < 9e18)) return std::nullopt;
    return std::llround(real);
}

// The words of a metadata line.
std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!(text = trim(text)).empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return parts;
}

// The first line that is no metadata is our header.
bool is_ours(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trim(text.substr(0, end));
        if (!line.empty() && line.front() != '#') return line == power_log_header;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

class Reader {
  public:
    Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    Result<PowerLog> read() {
        bool header = false;
        while (!text_.empty()) {
            const std::size_t end = text_.find('\n');
            const bool whole = end != std::string_view::npos;
            const std::string_view line = trim(text_.substr(0, end));
            text_.remove_prefix(whole ? end + 1 : text_.size());
            ++line_;
            if (line.empty()) continue;
            if (line.front() == '#') {
                VIRIDIAN_TRY(metadata(trim(line.substr(1))));
            } else if (!header) {
                if (line != power_log_header)
                    return no_header(fmt::format("should be the header `{}`", power_log_header));
                header = true;
            } else if (Result<void> row = reading(line); !row.ok()) {
                if (whole) return std::move(row).error();
                warn("the last line is cut", 1);
            }
        }
        if (!header) return no_header(fmt::format("comes before any header `{}`", power_log_header));
        return finish();
    }

  private:
    Error no_header(std::string_view what) const {
        return malformed(what,
                         "give a power log of ours, or of nvidia-smi, dcgmi, perf stat, turbostat, ipmitool, "
                         "Zeus, CodeCarbon or Prometheus (docs/meter.md)");
    }
    Error malformed(std::string_view what,
                    std::string_view next_step = "see the power log format in docs/meter.md") const {
        return fail(ErrorCode::malformed, std::string(next_step), "`{}` is not a power log: line {} {}",
                    name_, line_, what);
    }

    void warn(std::string_view what, std::uint64_t count) {
        for (Notice& notice : log_.warnings)
            if (notice.what == what) {
                notice.count += count;
                return;
            }
        log_.warnings.push_back({std::string(what), count});
    }

    Result<void> metadata(std::string_view text) {
        const auto parts = words(text);
        if (parts.size() == 5 && parts[0] == "wrap_uj") {
            const auto scope = scope_from(parts[3]);
            const auto wrap = integer(parts[4]);
            if (!scope || !wrap || *wrap <= 0)
                return malformed("has a wrap that is not a scope and a positive number");
            wraps_[fmt::format("{},{},{}", parts[1], parts[2], parts[3])] = *wrap;
        } else if (parts.size() == 2 && parts[0] == "monotonic_offset_ns") {
            const auto offset = integer(parts[1]);
            if (!offset || std::abs(*offset) > read_power_log_far)
                return malformed("has an offset that is not a number");
            if (!first_offset_)
                first_offset_ = offset;
            else if (std::abs(*offset - *first_offset_ - step_) > 1'000'000)
                ++log_.clock_steps;
            step_ = *offset - *first_offset_;
        } else if (parts.size() >= 2 && parts[0] == "recorded_by") {
            log_.recorded_by = trim(text.substr(parts[0].size()));
        } else {
            if (text.starts_with("lost ")) warn("a meter stopped answering", 1);
            if (log_.metadata.size() < 10'000) log_.metadata.emplace_back(text);
        }
        return {};
    }

    Result<void> reading(std::string_view line) {
        std::array<std::string_view, 7> fields;
        std::string_view rest = line;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::size_t comma = rest.find(',');
            if ((comma == std::string_view::npos) != (i + 1 == fields.size()))
                return malformed("does not have 7 fields");
            fields[i] = trim(rest.substr(0, comma));
            if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
        }
        const auto time = integer(fields[0]);
        const auto value = integer(fields[5]);
        const auto window = fields[6].empty() ? std::optional<std::int64_t>(0) : integer(fields[6]);
        if (!time || *time < 0)
            return malformed(fmt::format("has a time `{}` that is not nanoseconds", fields[0]));
        if (!value) return malformed(fmt::format("has a value `{}` that is not a number", fields[5]));
        if (!window || *window < 0)
            return malformed(fmt::format("has a window `{}` that is not nanoseconds", fields[6]));
        const std::string_view key(fields[1].data(),
                                   static_cast<std::size_t>(fields[4].end() - fields[1].data()));
        auto found = index_.find(key);
        if (found == index_.end()) {
            const auto scope = scope_from(fields[3]);
            const auto kind = kind_from(fields[4]);
            if (!scope) return malformed(fmt::format("has the unknown scope `{}`", fields[3]));
            if (!kind) return malformed(fmt::format("has the unknown kind `{}`", fields[4]));
            if (fields[1].empty() || fields[2].empty()) return malformed("names no meter or no device");
            found = index_.emplace(key, log_.series.size()).first;
            log_.series.push_back({{std::string(fields[1]), std::string(fields[2]), *scope, *kind, 0}, {}});
        }
        Series& series = log_.series[found->second];
        const std::int64_t when = *time - step_;
        ++readings_;
        if (*value < 0 && series.channel.kind != Kind::power_uw && series.channel.kind != Kind::average_uw)
            return malformed("has a negative counter");
        if (!series.readings.empty() && when < series.readings.back().time_ns)
            ++out_of_order_, series.broken.push_back(series.readings.size());
        else if (!series.readings.empty() && when == series.readings.back().time_ns)
            series.readings.back() = {when, *value, *window};
        else
            series.readings.push_back({when, *value, *window});
        return {};
    }

    Result<PowerLog> finish() {
        if (out_of_order_ * 100 > readings_)
            return fail(ErrorCode::malformed,
                        "sort it by time, or add `# monotonic_offset_ns` lines where the clock stepped",
                        "`{}` has {} of {} readings out of time order", name_, out_of_order_, readings_);
        if (out_of_order_ > 0) warn("readings out of time order were dropped", out_of_order_);
        if (log_.clock_steps > 0)
            warn("the clock stepped; times were put back on the first clock", log_.clock_steps);
        for (Series& series : log_.series) {
            const auto end = std::unique(series.broken.begin(), series.broken.end());
            series.broken.erase(std::remove_if(series.broken.begin(), end,
                                               [&](std::size_t at) { return at >= series.readings.size(); }),
                                series.broken.end());
            series.channel.logged = log_.recorded_by.empty();
            const Channel& c = series.channel;
            const auto wrap = wraps_.find(fmt::format("{},{},{}", c.meter, c.device, name_of(c.scope)));
            if (wrap != wraps_.end() && c.kind == Kind::energy_uj) series.channel.wrap_uj = wrap->second;
        }
        return std::move(log_);
    }

    std::string_view text_, name_;
    std::uint64_t line_ = 0, readings_ = 0, out_of_order_ = 0;
    PowerLog log_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::map<std::string, std::int64_t> wraps_;
    std::optional<std::int64_t> first_offset_;
    std::int64_t step_ = 0;
};

}  // namespace

const Series* PowerLog::find(std::string_view device, Scope scope, Kind kind) const {
    for (const Series& one : series)
        if (one.channel.device == device && one.channel.scope == scope && one.channel.kind == kind)
            return &one;
    return nullptr;
}

Result<PowerLog> parse_power_log(std::string_view text, std::string_view name,
                                 std::optional<std::int64_t> offset_ns) {
    if (const ForeignFormat* const format = is_ours(text) ? nullptr : foreign_format_of(text))
        return format->read({text, name, offset_ns});
    VIRIDIAN_TRY(PowerLog log, Reader(text, name).read());
    for (Series& series : log.series)
        for (Reading& reading : series.readings) reading.time_ns += offset_ns.value_or(0);
    return log;
}

Result<PowerLog> read_power_log(const Path& path, std::optional<std::int64_t> offset_ns) {
    VIRIDIAN_TRY(std::string text, read_file(path));
    if (is_gzip(text)) {
        VIRIDIAN_TRY(text, gunzip(text, path.string()));
    }
    return parse_power_log(text, path.string(), offset_ns);
}

}  // namespace viridian::meter
