#include "viridian/trace/json/json_events.hpp"

#include <algorithm>
#include <cstring>

#include "viridian/trace/json/json_keys.hpp"
#include "viridian/trace/json/json_scan.hpp"

namespace viridian::trace {
namespace {

constexpr std::size_t smallest_window = std::size_t{1} << 12;
constexpr std::size_t first_window = std::size_t{1} << 20;
constexpr std::size_t largest_event = std::size_t{8} << 20;
constexpr std::size_t largest_value = std::size_t{16} << 20;
// `{"ph":` and the like.
bool opens_event(const char* brace, const char* limit) {
    const char* const quote = scan::skip_space(brace + 1);
    if (*quote != '"') return false;
    bool escaped = false;
    const char* const close = scan::quote(quote + 1, std::min(limit, quote + 8), escaped);
    const std::string_view key(quote + 1, static_cast<std::size_t>(std::max(close, quote + 1) - quote - 1));
    return event_key(key) != Key::none && *close == '"' && *scan::skip_space(close + 1) == ':';
}

bool kept(std::string_view key) { return key == "viridian" || key == "metadata"; }

}  // namespace

JsonEvents::JsonEvents(std::unique_ptr<Bytes> bytes)
    : bytes_(std::move(bytes)),
      window_(std::clamp(bytes_->most_left(), smallest_window, first_window) + scan::padding, '\0'),
      at_(window_.data()) {}

Result<bool> JsonEvents::more(const char* keep) {
    if (exhausted_) return false;
    const auto from = static_cast<std::size_t>(keep - window_.data());
    const auto at = static_cast<std::size_t>(at_ - keep);
    if (from == 0 && filled_ == window_.size() - scan::padding) {
        if (filled_ >= largest_event) return false;
        window_.resize(window_.size() + filled_, '\0');
    } else if (from > 0) {
        std::memmove(window_.data(), keep, filled_ - from);
        filled_ -= from;
        window_offset_ += from;
    }
    const std::span<char> room(window_.data() + filled_, window_.size() - scan::padding - filled_);
    VIRIDIAN_TRY(const std::size_t count, bytes_->read(room));
    holes_ = holes_ || std::memchr(room.data(), '\0', count) != nullptr;
    filled_ += count;
    at_ = window_.data() + at;
    std::memset(window_.data() + filled_, 0, scan::padding);
    if (count == 0) {
        exhausted_ = true;
        faults_.damage = bytes_->damage();
    }
    return count > 0;
}

Result<bool> JsonEvents::see(std::size_t count) {
    while (static_cast<std::size_t>(limit() - at_) < count) {
        VIRIDIAN_TRY(const bool grown, more(at_));
        if (!grown) return false;
    }
    return true;
}

void JsonEvents::fault(std::uint64_t& counter, const char* at) {
    if (!faults_.any())
        faults_.counts.first_offset = window_offset_ + static_cast<std::uint64_t>(at - window_.data());
    ++counter;
}

Result<const JsonEvent*> JsonEvents::next() {
    for (;;) {
        if (state_ == State::begin) VIRIDIAN_TRY(begin());
        if (state_ == State::top) VIRIDIAN_TRY(top_pair());
        if (state_ == State::end) {
            VIRIDIAN_TRY(const bool another, behind());
            if (!another) return nullptr;
        }
        if (state_ != State::list) continue;

        while (scan::is_space(*at_) || *at_ == ',') ++at_;
        if (at_ >= limit()) {
            at_ = limit();
            VIRIDIAN_TRY(const bool grown, more(at_));
            if (!grown) {
                faults_.cut = !bare_list_;  // a bare list may leave out its bracket
                state_ = State::end;
            }
            continue;
        }
        if (*at_ == ']') {
            ++at_;
            state_ = bare_list_ ? State::end : State::top;
            continue;
        }
        const JsonFaults::Counts before = faults_.counts;
        Outcome outcome = *at_ == '{' ? parse(at_) : Outcome::broken;
        // What stands on both sides of a hole is not one event.
        if (outcome == Outcome::complete && holes_ &&
            std::memchr(at_, '\0', static_cast<std::size_t>(after_ - at_)) != nullptr)
            outcome = Outcome::broken;
        if (outcome != Outcome::complete) faults_.counts = before;
        if (outcome == Outcome::incomplete) {
            VIRIDIAN_TRY(const bool grown, more(at_));
            if (grown) continue;
            if (exhausted_) faults_.cut = true;
            outcome = Outcome::broken;
        }
        if (outcome == Outcome::complete) {
            event_.offset = window_offset_ + static_cast<std::uint64_t>(at_ - window_.data());
            at_ = after_;
            return &event_;
        }
        fault(*at_ == '{' ? faults_.counts.skipped : faults_.counts.garbage, at_);
        ++at_;
        VIRIDIAN_TRY(const bool found, resync());
        if (!found) state_ = State::end;
    }
}

Result<void> JsonEvents::begin() {
    VIRIDIAN_TRY(const bool three, see(3));
    if (three && std::string_view(at_, 3) == "\xEF\xBB\xBF") at_ += 3;
    for (;;) {
        at_ = scan::skip_space(at_);
        if (at_ < limit()) break;
        VIRIDIAN_TRY(const bool grown, more(at_));
        if (!grown) {
            state_ = State::end;
            return {};
        }
    }
    if (*at_ == '[' || *at_ == '{') {
        VIRIDIAN_TRY(const bool enough, see(1U << 12U));
        (void)enough;
        const bool one_per_line = *at_ == '{' && opens_event(at_, limit());
        bare_list_ = *at_ == '[' || one_per_line;
        state_ = bare_list_ ? State::list : State::top;
        if (!one_per_line) ++at_;
        return {};
    }
    fault(faults_.counts.garbage, at_);
    VIRIDIAN_TRY(const bool found, resync());
    state_ = found ? State::list : State::end;
    bare_list_ = true;
    return {};
}

// What stands behind the end of a document: nothing, another document, or garbage.
Result<bool> JsonEvents::behind() {
    for (;;) {
        at_ = scan::skip_space(at_);
        if (at_ < limit()) break;
        VIRIDIAN_TRY(const bool grown, more(at_));
        if (!grown) return false;
    }
    if (*at_ == '{' || *at_ == '[') {
        state_ = State::begin;
        return true;
    }
    if (*at_ != '\0') fault(faults_.counts.garbage, at_);
    do at_ = limit();
    while (more(at_).ok() && at_ < limit());
    return false;
}

// One `"key": value` beside the event list, or the end of the object.
Result<void> JsonEvents::top_pair() {
    while (at_ < limit() && (scan::is_space(*at_) || *at_ == ',')) ++at_;
    VIRIDIAN_TRY(const bool enough, see(1U << 12U));  // keys and their colons are in view
    if (at_ >= limit()) {
        faults_.cut = true;
        state_ = State::end;
        return {};
    }
    if (scan::is_space(*at_) || *at_ == ',') return {};
    if (*at_ == '}') {
        ++at_;
        state_ = State::end;
        return {};
    }
    bool escaped = false;
    const char* const stop = std::min(limit(), at_ + (1U << 12U));
    const char* const close = *at_ == '"' ? scan::quote(at_ + 1, stop, escaped) : stop;
    const char* colon = close < stop ? scan::skip_space(close + 1) : stop;
    if (colon >= limit() || *colon != ':') {
        if (!enough && colon >= limit()) faults_.cut = true;
        fault(faults_.counts.garbage, at_);
        VIRIDIAN_TRY(const bool found, resync());
        state_ = found ? State::list : State::end;
        return {};
    }
    const std::string key(at_ + 1, close);
    at_ = colon + 1;
    do {
        at_ = scan::skip_space(at_);
        if (at_ < limit()) break;
        VIRIDIAN_TRY(const bool grown, more(at_));
        if (!grown) break;
    } while (true);
    if (key == "traceEvents" && *at_ == '[') {
        ++at_;
        state_ = State::list;
        return {};
    }
    std::string text;
    VIRIDIAN_TRY(skip_value(kept(key), text));
    if (!text.empty() && top_.size() < 256) top_.emplace_back(key, std::move(text));
    return {};
}

// Over one value of any length. Scalars below 4 KiB are always kept.
Result<void> JsonEvents::skip_value(bool keep, std::string& text) {
    scan::Container container;
    if (*at_ != '{' && *at_ != '[') {
        VIRIDIAN_TRY(const bool enough, see(1U << 12U));
        (void)enough;
        bool escaped = false;
        const char* close = *at_ == '"' ? scan::quote(at_ + 1, limit(), escaped) : scan::word(at_, limit());
        if (close < limit() || *at_ != '"') {
            if (*at_ == '"') ++close;
            if (close - at_ < scan::long_text) text.assign(at_, close);
            if (close == at_ && close < limit()) ++close;  // a stray character
            at_ = close;
            return {};
        }
        container.depth = 1;  // a long string: skipped as the inside of a container that the quote ends
        container.in_string = true;
        ++at_;
        for (;;) {
            const char* end = scan::quote(at_, limit(), escaped);
            if (end < limit()) {
                at_ = end + 1;
                return {};
            }
            at_ = limit();
            VIRIDIAN_TRY(const bool grown, more(at_));
            if (!grown) return {};
        }
    }
    for (;;) {
        const char* const end = container.skip(at_, limit());
        if (keep) text.append(at_, end);
        at_ = end;
        if (container.depth == 0) break;
        if (text.size() > largest_value) keep = false, text.clear();
        VIRIDIAN_TRY(const bool grown, more(at_));
        if (!grown) break;
    }
    return {};
}

Result<bool> JsonEvents::resync() {
    static constexpr std::string_view base = "\"baseTimeNanoseconds\"";
    for (;;) {
        const char* const from = at_;
        const char* found = nullptr;
        while (at_ < limit()) {
            const void* brace = std::memchr(at_, '{', static_cast<std::size_t>(limit() - at_));
            at_ = brace == nullptr ? limit() : static_cast<const char*>(brace);
            if (brace == nullptr || limit() - at_ < 64) break;
            if (opens_event(at_, limit())) {
                found = at_;
                break;
            }
            ++at_;
        }
        const auto passed = static_cast<std::size_t>(at_ - from);
        if (const void* seen = ::memmem(from, passed, base.data(), base.size())) {
            const char* value = scan::skip_space(static_cast<const char*>(seen) + base.size());
            if (*value == ':') value = scan::skip_space(value + 1);
            top_.emplace_back("baseTimeNanoseconds", std::string(value, scan::word(value, limit())));
        }
        if (found != nullptr) return true;
        const bool short_tail = at_ < limit();
        VIRIDIAN_TRY(const bool grown, more(at_));
        if (!grown && short_tail && limit() - at_ > 2) {  // too short to look like an event, but try
            if (opens_event(at_, limit()) && parse(at_) == Outcome::complete) return true;
            ++at_;
            continue;
        }
        if (!grown) return false;
    }
}

}  // namespace viridian::trace
