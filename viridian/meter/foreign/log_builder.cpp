#include "viridian/meter/foreign/log_builder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

namespace viridian::meter {
namespace {

constexpr double ns_a_second = 1e9;
constexpr std::int64_t year_2001 = 1'000'000'000, year_2040 = 2'208'988'800;  // seconds
constexpr double most_joules = 1e12, most_watts = 1e9;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::optional<int> whole_number(std::string_view& text) {
    int number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool skip(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// "06:31:02.123" and what follows; the fraction in nanoseconds.
std::optional<std::int64_t> take_clock(std::string_view& text, std::tm& date) {
    const auto hour = whole_number(text);
    if (!hour || !skip(text, ":")) return std::nullopt;
    const auto minute = whole_number(text);
    if (!minute || !skip(text, ":")) return std::nullopt;
    const auto second = whole_number(text);
    if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    date.tm_hour = *hour, date.tm_min = *minute, date.tm_sec = *second;
    std::int64_t fraction = 0, unit = 100'000'000;
    if (skip(text, ".,"))
        for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), unit /= 10)
            fraction += (text.front() - '0') * unit;
    return fraction;
}

// Seconds east of Greenwich: "Z", "+01:00", "+0100", "UTC"; nothing if `text` names no zone.
std::optional<std::int64_t> zone_of(std::string_view text) {
    text = trimmed(text);
    if (text == "Z" || text == "UTC") return 0;
    const bool west = !text.empty() && text.front() == '-';
    if (!skip(text, "+-")) return std::nullopt;
    auto hours = whole_number(text), minutes = hours;
    if (!hours) return std::nullopt;
    if (text.empty()) {
        minutes = *hours % 100, hours = *hours / 100;
    } else {
        if (!skip(text, ":")) return std::nullopt;
        minutes = whole_number(text);
    }
    if (!minutes || *hours > 24 || *minutes > 59) return std::nullopt;
    return (*hours * 60 + *minutes) * (west ? -60 : 60);
}

bool take_month(std::string_view word, std::tm& date) {
    static constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto found = std::ranges::find(months, word);
    date.tm_mon = static_cast<int>(found - months.begin());
    return found != months.end();
}

// "2026/11/24", "2026-11-24", "11/24/2026"
bool take_day(std::string_view& text, std::tm& date) {
    const auto first = whole_number(text);
    if (!first || !skip(text, "/-")) return false;
    const auto second = whole_number(text);
    if (!second || !skip(text, "/-")) return false;
    const auto third = whole_number(text);
    if (!third) return false;
    const bool year_first = *first > 31;
    const int year = year_first ? *first : *third;
    date.tm_year = (year < 100 ? year + 2000 : year) - 1900;
    date.tm_mon = (year_first ? *second : *first) - 1;
    date.tm_mday = year_first ? *third : *second;
    return true;
}

}  // namespace

bool Lines::next() {
    while (!text_.empty()) {
        const std::size_t end = text_.find('\n');
        whole_ = end != std::string_view::npos;
        line_ = trimmed(text_.substr(0, end));
        text_.remove_prefix(whole_ ? end + 1 : text_.size());
        ++number_;
        if (!line_.empty()) return true;
    }
    return false;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> csv_fields(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    for (bool more = true; more;) {
        line = trimmed(line);
        std::string_view field;
        if (const std::size_t quote = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
            quote != std::string_view::npos) {
            field = line.substr(1, quote - 1);
            line.remove_prefix(quote + 1);
            line.remove_prefix(std::min(line.find(separator), line.size()));
        } else {
            field = trimmed(line.substr(0, line.find(separator)));
            line.remove_prefix(std::min(line.find(separator), line.size()));
        }
        fields.push_back(field);
        more = !line.empty();
        if (more) line.remove_prefix(1);
    }
    return fields;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!(line = trimmed(line)).empty()) {
        const std::size_t end = static_cast<std::size_t>(std::ranges::find_if(line, is_space) - line.begin());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

std::optional<std::size_t> position_of(std::string_view name, const std::vector<std::string_view>& fields) {
    const auto found = std::ranges::find(fields, name);
    if (found == fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - fields.begin());
}

std::optional<double> real_number(std::string_view text) {
    double number = 0.0;
    const char* const end = text.data() + text.size();
    const auto [at, fault] = std::from_chars(text.data(), end, number);
    if (fault != std::errc{} || at != end || text.empty() || !std::isfinite(number)) return std::nullopt;
    return number;
}

std::optional<std::int64_t> unix_seconds(std::string_view text) {
    // Whole seconds apart from the fraction: a double has not 19 digits.
    const std::size_t point = std::min(text.find('.'), text.size());
    std::int64_t seconds = 0;
    const auto [at, fault] = std::from_chars(text.data(), text.data() + point, seconds);
    const auto fraction =
        point == text.size() ? std::optional(0.0) : real_number(fmt::format("0{}", text.substr(point)));
    if (fault != std::errc{} || at != text.data() + point || !fraction || seconds < year_2001 ||
        seconds > year_2040)
        return std::nullopt;
    return seconds * 1'000'000'000 + std::llround(*fraction * ns_a_second);
}

std::optional<std::int64_t> unix_date(std::string_view text) {
    text = trimmed(text);
    std::tm date{};
    date.tm_isdst = -1;
    std::optional<std::int64_t> fraction, zone;
    if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        if (!take_day(text, date) || !skip(text, " T")) return std::nullopt;
        text = trimmed(text);
        fraction = take_clock(text, date);
        zone = zone_of(text);
        if (!zone && !trimmed(text).empty()) return std::nullopt;
    } else {
        const auto words = words_of(text);
        if (words.size() < 5 || !take_month(words[1], date)) return std::nullopt;
        std::string_view day = words[2], clock = words[3], year = words[words.size() == 5 ? 4 : 5];
        const auto number = whole_number(day), years = whole_number(year);
        if (!number || !years) return std::nullopt;
        date.tm_mday = *number, date.tm_year = *years - 1900;
        fraction = take_clock(clock, date);
        if (words.size() > 5) zone = zone_of(words[4]);
    }
    if (!fraction || date.tm_mon < 0 || date.tm_mon > 11 || date.tm_mday < 1 || date.tm_mday > 31 ||
        date.tm_year < 101 || date.tm_year > 139)
        return std::nullopt;
    const std::int64_t seconds =
        zone ? std::int64_t{::timegm(&date)} - *zone : std::int64_t{std::mktime(&date)};
    if (seconds < year_2001 || seconds > year_2040) return std::nullopt;
    return seconds * 1'000'000'000 + *fraction;
}

Series& LogBuilder::series(const std::string& device, Scope scope, Kind kind) {
    const auto [found, fresh] = index_.try_emplace(
        fmt::format("{},{},{}", device, name_of(scope), name_of(kind)), out_.series.size());
    if (fresh) out_.series.push_back({{meter_, device, scope, kind, 0, true}, {}});
    return out_.series[found->second];
}

void LogBuilder::add(Series& series, Reading reading) {
    reading.time_ns += log_.offset_ns.value_or(0);
    ++readings_;
    if (series.readings.empty() || reading.time_ns > series.readings.back().time_ns)
        series.readings.push_back(reading);
    else if (reading.time_ns < series.readings.back().time_ns)
        ++out_of_order_;
    else
        series.readings.back() = reading;
}

void LogBuilder::power(const std::string& device, Scope scope, Kind kind, std::int64_t time_ns, double watts,
                       std::int64_t window_ns) {
    if (!(std::abs(watts) < most_watts)) return warn("powers beyond a gigawatt were left out");
    add(series(device, scope, kind),
        {time_ns, std::llround(1e6 * watts), std::max<std::int64_t>(window_ns, 0)});
}

void LogBuilder::counter(const std::string& device, Scope scope, std::int64_t time_ns, double joules) {
    if (!(joules >= 0.0 && joules < most_joules))
        return warn("counts below 0 or beyond 10^12 J were left out");
    add(series(device, scope, Kind::energy_uj), {time_ns, std::llround(1e6 * joules)});
}

void LogBuilder::stretch(const std::string& device, Scope scope, std::int64_t begin_ns, std::int64_t end_ns,
                         double joules) {
    Series& counts = series(device, scope, Kind::energy_uj);
    double& sum = sums_[static_cast<std::size_t>(&counts - out_.series.data())];
    const std::int64_t last =
        counts.readings.empty() ? INT64_MIN : counts.readings.back().time_ns - log_.offset_ns.value_or(0);
    if (end_ns <= begin_ns || begin_ns < last)
        return warn("stretches of time that overlap others were left out");
    if (!(joules >= 0.0 && sum + joules < most_joules))
        return warn("counts below 0 or beyond 10^12 J were left out");
    if (begin_ns > last) add(counts, {begin_ns, std::llround(1e6 * sum)});
    sum += joules;
    add(counts, {end_ns, std::llround(1e6 * sum)});
}

void LogBuilder::warn(std::string_view what) {
    for (Notice& notice : out_.warnings)
        if (notice.what == what) {
            ++notice.count;
            return;
        }
    out_.warnings.push_back({std::string(what), 1});
}

Error LogBuilder::malformed(std::uint64_t number, std::string_view what) const {
    return fail(ErrorCode::malformed, "see \"Logs of other programs\" in docs/meter.md",
                "`{}` is not a whole log of {}: line {} {}", log_.name, meter_, number, what);
}

Result<PowerLog> LogBuilder::finish() {
    if (readings_ == 0)
        return fail(ErrorCode::malformed, "see \"Logs of other programs\" in docs/meter.md",
                    "`{}` is a log of {} without any reading of power or energy", log_.name, meter_);
    if (out_of_order_ * 100 > readings_)
        return fail(ErrorCode::malformed, "sort it by time", "`{}` has {} of {} readings out of time order",
                    log_.name, out_of_order_, readings_);
    if (out_of_order_ > 0) {
        warn("readings out of time order were dropped");
        out_.warnings.back().count = out_of_order_;
    }
    return std::move(out_);
}

}  // namespace viridian::meter
