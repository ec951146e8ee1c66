#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "viridian/account/epochs.hpp"
#include "viridian/account/footprint.hpp"

namespace viridian::account {
namespace {

std::string without_number(std::string_view name) {
    std::size_t end = name.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
    if (end == name.size() || end == 0) return std::string(name);
    while (end > 1 && (name[end - 1] == '#' || name[end - 1] == '_' || name[end - 1] == ' ')) --end;
    return std::string(name.substr(0, end));
}

struct Candidate {
    std::vector<Epoch> epochs;
    Nanoseconds length = 0;
    bool overlap = false;
};

// The block that repeats and ran longest.
void find_block(const std::map<std::string, Nanoseconds>& time_of, Outline& out) {
    std::vector<std::string> names;
    for (const auto& [name, time] : time_of) names.push_back(name);
    const Fold fold(names);
    struct Group {
        Nanoseconds time = 0;
        std::map<std::uint64_t, std::string> members;  // by number
    };
    std::map<std::string, Group> groups;
    for (const auto& [name, time] : time_of) {
        const std::string folded = fold(name);
        std::size_t at = 0, folded_at = 0;
        while (at < name.size()) {  // the outermost part that was folded
            const std::size_t end = std::min(name.find('/', at), name.size());
            const std::size_t folded_end = std::min(folded.find('/', folded_at), folded.size());
            const std::string_view part(name.data() + at, end - at);
            if (part != std::string_view(folded).substr(folded_at, folded_end - folded_at)) {
                const std::size_t digits = part.find_last_not_of("0123456789") + 1;
                std::uint64_t number = 0;
                std::from_chars(part.data() + digits, part.data() + part.size(), number);
                Group& group = groups[name.substr(0, at) + std::string(part.substr(0, digits)) + "*"];
                group.time += time;
                group.members.emplace(number, name.substr(0, end));
                break;
            }
            at = end + 1;
            folded_at = folded_end + 1;
        }
    }
    const auto longest = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        return a.second.time < b.second.time;
    });
    if (longest == groups.end()) return;
    out.block = longest->first;
    out.first = longest->second.members.begin()->second;
}

}  // namespace

Result<Outline> outline(trace::Source& source, std::string_view wanted) {
    std::map<std::string, Candidate> candidates;
    std::vector<Nanoseconds> time_of_path;
    std::map<trace::NameId, std::string> group_of;
    const auto consider = [&](const trace::Event& event, const trace::Trace& about) {
        const std::string_view name = about.names[event.name];
        auto found = group_of.find(event.name);
        if (found == group_of.end()) {
            if (group_of.size() > 1'000'000) return;
            found = group_of.emplace(event.name, without_number(name)).first;
        }
        Candidate& one = candidates[found->second];
        if (!one.epochs.empty() && event.start < one.epochs.back().end) {
            one.overlap = one.overlap || event.end > one.epochs.back().end;
            return;  // nested in one of its own, or in several lanes at once
        }
        one.epochs.push_back({event.start, event.end});
        one.length += event.end - event.start;
    };
    for (;;) {
        VIRIDIAN_TRY(const std::span<const trace::Event> batch, source.next());
        if (batch.empty()) break;
        const trace::Trace& about = source.about();
        for (const trace::Event& event : batch) {
            const bool names = event.kind == trace::Kind::scope || event.kind == trace::Kind::module;
            if (names && event.end > event.start &&
                (wanted.empty() || about.names[event.name] == wanted || about.names[event.type] == wanted ||
                 without_number(about.names[event.name]) == wanted))
                consider(event, about);
            if (!trace::is_work(event.kind)) continue;
            if (!wanted.empty() && about.names[event.name] == wanted) consider(event, about);
            if (event.path >= time_of_path.size()) time_of_path.resize(std::size_t{event.path} + 1);
            time_of_path[event.path] += event.end - event.start;
        }
    }
    Outline out;
    const Candidate* best = nullptr;
    for (const auto& [name, one] : candidates) {
        const bool repeats = one.epochs.size() > 1 || !wanted.empty();
        if (!repeats || one.overlap) continue;
        if (best == nullptr || name == "ProfilerStep" ||
            (out.bounds != "ProfilerStep" && one.length > best->length))
            best = &one, out.bounds = name;
    }
    if (best != nullptr) out.epochs = best->epochs;
    std::map<std::string, Nanoseconds> names;
    for (std::size_t path = 1; path < time_of_path.size(); ++path)
        if (time_of_path[path] > 0)
            names[source.about().qualified(static_cast<trace::PathId>(path))] += time_of_path[path];
    find_block(names, out);
    return out;
}

Result<std::vector<Epoch>> parse_epochs(std::string_view text, std::string_view name) {
    std::vector<Epoch> out;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        while (!row.empty() && (row.back() == '\r' || row.back() == ' ')) row.remove_suffix(1);
        if (row.empty() || row.front() == '#' || row == "begin_ns,end_ns") continue;
        Epoch epoch;
        const char* const stop = row.data() + row.size();
        const auto first = std::from_chars(row.data(), stop, epoch.begin);
        const bool comma = first.ec == std::errc() && first.ptr != stop && *first.ptr == ',';
        const auto second = comma ? std::from_chars(first.ptr + 1, stop, epoch.end) : first;
        if (!comma || second.ec != std::errc() || second.ptr != stop || epoch.end <= epoch.begin ||
            (!out.empty() && epoch.begin < out.back().end))
            return fail(ErrorCode::malformed,
                        "write `begin_ns,end_ns` lines, Unix time in nanoseconds, in order",
                        "`{}` is not a list of epochs: line {}", name, line);
        out.push_back(epoch);
    }
    return out;
}

}  // namespace viridian::account
