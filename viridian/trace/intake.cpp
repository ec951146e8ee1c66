#include "viridian/trace/intake.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::trace {
namespace {

constexpr std::size_t most_names = 2'000'000;
constexpr Nanoseconds furthest = 4'000'000'000'000'000'000;  // the year 2096; sums stay in range
constexpr std::size_t most_edges = 1'000'000;

SpillOptions share(SpillOptions options, std::size_t part) {
    options.budget /= part;
    return options;
}

}  // namespace

Intake::Intake(const SpillOptions& spill) : slices_(spill), halves_(share(spill, 4)) {
    about.devices = {"cpu:0"};
    recent_.fill({LaneKey{-1, -1, 0xffff}, 0});
}

NameId Intake::name(const JsonValue& value) {
    std::string_view text = value.text;
    if (value.escaped) {
        unescape(text, scratch_);
        text = scratch_;
    }
    return name(text);
}

NameId Intake::name(std::string_view text) {
    const std::size_t known = about.names.size();
    if (known >= most_names) {  // the table is bounded
        const NameId found = about.names.find(text);
        if (found != 0 || text.empty()) return found;
        about.warn("more distinct names than the table holds; the rest share one", text);
        return about.names.add("(other)");
    }
    NameId id = about.names.add(text);
    if (id < known) return id;
    if (!is_utf8(text)) {
        about.warn("names with invalid UTF-8", "");
        std::string clean;
        unescape(text, clean);
        id = about.names.add(clean);
    }
    return id;
}

PathId Intake::path_of(NameId name, char separator) {
    if (name >= paths_.size()) paths_.resize(std::max<std::size_t>(name + 1, about.names.size()));
    if (paths_[name] == 0) {
        const std::string text(about.names[name]);
        const PathId path = about.paths.add(0, text, about.names, separator);
        paths_[name] = path;
    }
    return paths_[name];
}

LaneId Intake::lane(DeviceId device, std::int64_t process, std::int64_t thread) {
    const LaneKey key{process, thread, device};
    auto& [recent, id] = recent_[LaneHash{}(key) >> 58U];
    if (recent == key) return id;
    const auto [found, fresh] = lanes_.try_emplace(key, static_cast<LaneId>(about.lanes.size()));
    if (fresh) about.lanes.push_back({device, process, thread, {}});
    recent = key;
    id = found->second;
    return id;
}

DeviceId Intake::accelerator(std::int64_t number) {
    if (number < 0 || number >= 1024) number = 0;
    const auto index = static_cast<std::size_t>(number);
    if (index >= accelerators_.size()) accelerators_.resize(index + 1, 0);
    if (accelerators_[index] == 0) accelerators_[index] = about.device(fmt::format("cuda:{}", index));
    return accelerators_[index];
}

std::int64_t Intake::number_of(const JsonValue& value) {
    if (const auto number = integer(value.text)) return *number;
    return value.text.empty() ? 0 : text_numbers + name(value);
}

const std::string& Intake::process_name(std::int64_t process) const {
    static const std::string none;
    const auto found = process_names_.find(process);
    return found == process_names_.end() ? none : found->second;
}

const std::string& Intake::thread_name(std::int64_t process, std::int64_t thread) const {
    static const std::string none;
    const auto found = thread_names_.find({process, thread, 0});
    return found == thread_names_.end() ? none : found->second;
}

void Intake::metadata(const JsonEvent& event) {
    const std::string_view what = event.text(Key::name);
    if (!event.has(Key::arg_name) || process_names_.size() + thread_names_.size() > 100'000) return;
    unescape(event.text(Key::arg_name), scratch_);
    const std::int64_t process = number_of(event[Key::pid]);
    if (what == "process_name") process_names_[process] = scratch_;
    if (what == "thread_name") thread_names_[{process, number_of(event[Key::tid]), 0}] = scratch_;
}

std::optional<Raw> Intake::common(const JsonEvent& event) {
    Raw raw;
    switch (event.phase()) {
        case 'X':
        case 'C':
        case 'i':
        case 'I':
        case 'R':
            break;
        case 'B':
            raw.phase = Raw::Phase::begin;
            break;
        case 'E':
            raw.phase = Raw::Phase::end;
            break;
        case 's':
            raw.phase = Raw::Phase::flow_out;
            break;
        case 'f':
        case 't':
            raw.phase = Raw::Phase::flow_in;
            break;
        case 'M':
            metadata(event);
            return std::nullopt;
        case '\0':
            return std::nullopt;  // `{}` ends some lists
        default:
            return std::nullopt;  // asynchronous, object and sample events carry no work
    }
    const auto lost = [&](std::string_view why) {
        about.warn(why, fmt::format("at byte {}", event.offset));
        ++about.lost_events;
        return std::nullopt;
    };
    const std::string_view time = event.text(Key::ts);
    const auto start = nanoseconds_of_microseconds(time);
    if (!start || std::abs(*start) > furthest) return lost("events without a readable time");
    raw.start = raw.end = *start;
    fractions_seen_ = fractions_seen_ || (*start % 1000) != 0;
    if (event.phase() == 'X') {
        const auto duration = nanoseconds_of_microseconds(event.text(Key::dur));
        if ((!duration && event.has(Key::dur)) || duration.value_or(0) > furthest)
            return lost("events without a readable duration");
        if (duration.value_or(0) < 0)
            about.warn("negative durations, read as 0", fmt::format("at byte {}", event.offset));
        raw.end += std::max<Nanoseconds>(duration.value_or(0), 0);
        fractions_seen_ = fractions_seen_ || (raw.end % 1000) != 0;
    }
    return raw;
}

Result<void> Intake::add(Raw raw) {
    if (order_ == 0) earliest_ = latest_ = raw.start;
    raw.order = ++order_;
    earliest_ = std::min(earliest_, raw.start);
    latest_ = std::max(latest_, raw.end);
    backward_seen_ = backward_seen_ || raw.pass == Pass::backward;
    if (raw.phase != Raw::Phase::begin && raw.phase != Raw::Phase::end) return slices_.add(raw);
    ++halves_count_;
    return halves_.add(raw);
}

Result<void> Intake::add_counter(const JsonEvent& event, Raw raw) {
    raw.kind = Kind::counter;
    const std::string base(about.names[name(event[Key::name])]);
    for (const auto& [key, value] : event.others) {
        const auto number_read = number(value.text);
        if (!number_read) {
            about.warn("counter values that are no numbers", value.text);
            continue;
        }
        raw.value = *number_read;
        const std::string_view series = about.names[name(key)];
        raw.name = raw.type = series == "value" ? name(std::string_view(base))
                                                : name(std::string_view(base + " " + std::string(series)));
        VIRIDIAN_TRY(add(raw));
    }
    return {};
}

void Intake::edge(PathId from, PathId to) {
    const auto [found, fresh] = edges_.try_emplace(std::uint64_t{from} << 32U | to, about.edges.size());
    if (!fresh)
        ++about.edges[found->second].count;
    else if (about.edges.size() < most_edges)
        about.edges.push_back({from, to, 1});
    else
        edges_.erase(found);
}

// Per lane a stack: an end closes the latest begin. What stays open ends with the trace.
Result<void> Intake::pair_edges() {
    VIRIDIAN_TRY(halves_.finish());
    std::unordered_map<LaneId, std::vector<Raw>> open;
    std::uint64_t unmatched = 0;
    const auto close = [&](Raw raw, Nanoseconds end) {
        raw.phase = Raw::Phase::slice;
        raw.end = end;
        return slices_.add(raw);
    };
    for (;;) {
        VIRIDIAN_TRY(const Raw* half, halves_.next());
        if (half == nullptr) break;
        std::vector<Raw>& stack = open[half->lane];
        if (half->phase == Raw::Phase::begin) {
            stack.push_back(*half);
        } else if (stack.empty()) {
            ++unmatched;
        } else {
            const Raw begun = stack.back();
            stack.pop_back();
            VIRIDIAN_TRY(close(begun, half->start));
        }
    }
    if (unmatched > 0)
        about.warn("ends without a begin, skipped", "", unmatched), about.lost_events += unmatched;
    std::uint64_t unended = 0;
    for (const auto& [lane, stack] : open) {
        unended += stack.size();
        for (const Raw& begun : stack) VIRIDIAN_TRY(close(begun, latest_));
    }
    if (unended > 0) about.warn("begins without an end, closed at the end of the trace", "", unended);
    return {};
}

Result<void> Intake::finish() {
    if (halves_count_ > 0) VIRIDIAN_TRY(pair_edges());
    for (Lane& one : about.lanes) {
        if (lanes_settled) break;
        one.name = thread_name(one.process, one.thread);
        if (one.name.empty()) one.name = process_name(one.process);
    }
    return slices_.finish();
}

}  // namespace viridian::trace
