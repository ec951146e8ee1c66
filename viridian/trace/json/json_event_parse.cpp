// One event of a JSON trace, from its opening brace to its closing one.
#include <algorithm>
#include <cstring>

#include "viridian/trace/json/json_events.hpp"
#include "viridian/trace/json/json_keys.hpp"
#include "viridian/trace/json/json_scan.hpp"

namespace viridian::trace {
namespace {

// A string or container that holds another event's "ph" has lost its end.
bool swallows_event(const char* begin, const char* end) {
    return end - begin > scan::long_text &&
           ::memmem(begin, static_cast<std::size_t>(end - begin), "\"ph\"", 4) != nullptr;
}

}  // namespace

JsonEvents::Outcome JsonEvents::parse(const char* at) {
    event_.clear();
    ++at;
    bool separated = true;
    for (;;) {
        at = scan::skip_space(at);
        if (*at == '"') {
            if (!separated) fault(faults_.counts.missing_commas, at);
            if (const Outcome outcome = pair(at, false); outcome != Outcome::complete) return outcome;
            separated = false;
        } else if (*at == ',') {
            ++at;
            separated = true;
        } else if (*at == '}') {
            after_ = at + 1;
            return Outcome::complete;
        } else {
            return at >= limit() ? Outcome::incomplete : Outcome::broken;
        }
    }
}

// `"key": value`; for the event's own "args", its pairs.
JsonEvents::Outcome JsonEvents::pair(const char*& at, bool in_args) {
    bool escaped = false;
    const char* const close = scan::quote(at + 1, limit(), escaped);
    if (close >= limit())
        return exhausted_ || limit() - at < scan::long_text ? Outcome::incomplete : Outcome::broken;
    const std::string_view text(at + 1, static_cast<std::size_t>(close - at - 1));
    at = close + 1;
    if (*at != ':') {
        at = scan::skip_space(at);
        if (*at != ':') return at >= limit() ? Outcome::incomplete : Outcome::broken;
    }
    at = scan::skip_space(at + 1);
    const Key key = in_args ? argument_key(text) : event_key(text);
    JsonValue found;
    if (*at == '{' && key == Key::args) {
        ++at;
        for (bool separated = true;;) {
            at = scan::skip_space(at);
            if (*at == '"') {
                if (!separated) fault(faults_.counts.missing_commas, at);
                if (const Outcome outcome = pair(at, true); outcome != Outcome::complete) return outcome;
                separated = false;
            } else if (*at == ',') {
                ++at;
                separated = true;
            } else if (*at == '}') {
                ++at;
                return Outcome::complete;
            } else {
                return at >= limit() ? Outcome::incomplete : Outcome::broken;
            }
        }
    }
    const bool plain = *at != '{' && *at != '[';
    if (const Outcome outcome = value(at, found); outcome != Outcome::complete) return outcome;
    if (key != Key::none) {
        if (plain) event_.set(key, found);
    } else if (in_args && plain) {
        if (text.size() > 5 && text.starts_with("input") && text[5] >= '0' && text[5] <= '9')
            event_.inputs.push_back(found);
        else if (!found.quoted && event_.others.size() < 16)
            event_.others.push_back({JsonValue{text, true, escaped}, found});
    }
    return Outcome::complete;
}

JsonEvents::Outcome JsonEvents::value(const char*& at, JsonValue& into) {
    if (*at == '"') return string(at, into);
    if (*at == '{' || *at == '[') {
        scan::Container container;
        const char* const end = container.skip(at, limit());
        if (swallows_event(at, end)) return Outcome::broken;
        if (container.depth > 0) return Outcome::incomplete;
        into = {{at, static_cast<std::size_t>(end - at)}, false, false};
        at = end;
        return Outcome::complete;
    }
    const char* const end = scan::word(at, limit());
    if (end >= limit()) return Outcome::incomplete;
    if (end == at) return Outcome::broken;
    into = {{at, static_cast<std::size_t>(end - at)}, false, false};
    at = end;
    return Outcome::complete;
}

// A quote ends a value when what follows can follow a value: a comma and the next key, or a bracket and then
// a separator. Any other quote belongs to the text: some writers do not escape names.
JsonEvents::Outcome JsonEvents::string(const char*& at, JsonValue& into) {
    const char* const begin = at + 1;
    bool escaped = false;
    const char* close = at;
    for (int inner = 0;; ++inner) {
        close = scan::quote(close + 1, limit(), escaped);
        if (swallows_event(begin, close) || inner > 64) return Outcome::broken;
        if (close >= limit()) return Outcome::incomplete;
        const char* after = close + 1;
        bool ends = *after == ',' && after[1] == '"';
        if (!ends) {
            after = scan::skip_space(after);
            const char* const next = scan::skip_space(after + 1);
            if (after >= limit() || next > limit()) return Outcome::incomplete;
            if (*after == ',')
                ends = *next == '"' || *next == '}' || *next == ',';
            else if (*after == '}')
                ends = *next == ',' || *next == '}' || *next == ']' || *next == '{' || next >= limit();
            else if (*after == '"') {  // a comma is missing, when a key follows
                bool any = false;
                const char* const end_of_key = scan::quote(after + 1, std::min(limit(), after + 64), any);
                ends = *end_of_key == '"' && *scan::skip_space(end_of_key + 1) == ':';
            }
        }
        if (!ends) continue;
        if (inner > 0) fault(faults_.counts.unescaped_quotes, begin);
        into = {{begin, static_cast<std::size_t>(close - begin)}, true, escaped};
        at = close + 1;
        return Outcome::complete;
    }
}

}  // namespace viridian::trace
