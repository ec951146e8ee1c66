#include "viridian/trace/join/trace_tables.hpp"

#include <algorithm>

namespace viridian::trace {
namespace {

constexpr std::size_t most_names = 2'000'000;
constexpr std::size_t most_edges = 1'000'000;

}  // namespace

TraceTables::TraceTables() {
    about.devices = {"cpu:0"};
    recent_.fill({LaneKey{-1, -1, 0xffff}, 0});
}

NameId TraceTables::name(const JsonValue& value) {
    std::string_view text = value.text;
    if (value.escaped) {
        unescape(text, scratch_);
        text = scratch_;
    }
    return name(text);
}

NameId TraceTables::name(std::string_view text) {
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

PathId TraceTables::path_of(NameId name, char separator) {
    if (name >= paths_.size()) paths_.resize(std::max<std::size_t>(name + 1, about.names.size()));
    if (paths_[name] == 0) {
        const std::string text(about.names[name]);
        const PathId path = about.paths.add(0, text, about.names, separator);
        paths_[name] = path;
    }
    return paths_[name];
}

LaneId TraceTables::lane(DeviceId device, std::int64_t process, std::int64_t thread) {
    const LaneKey key{process, thread, device};
    auto& [recent, id] = recent_[LaneHash{}(key) >> 58U];
    if (recent == key) return id;
    const auto [found, fresh] = lanes_.try_emplace(key, static_cast<LaneId>(about.lanes.size()));
    if (fresh) about.lanes.push_back({device, process, thread, {}});
    recent = key;
    id = found->second;
    return id;
}

LaneId TraceTables::lane(const JsonEvent& event) {
    return lane(0, number_of(event[Key::pid]), number_of(event[Key::tid]));
}

DeviceId TraceTables::accelerator(std::int64_t number) {
    if (number < 0 || number >= 1024) number = 0;
    const auto index = static_cast<std::size_t>(number);
    if (index >= accelerators_.size()) accelerators_.resize(index + 1, 0);
    if (accelerators_[index] == 0) accelerators_[index] = about.device(fmt::format("cuda:{}", index));
    return accelerators_[index];
}

std::int64_t TraceTables::number_of(const JsonValue& value) {
    if (const auto number = integer(value.text)) return *number;
    return value.text.empty() ? 0 : text_numbers + name(value);
}

const std::string& TraceTables::process_name(std::int64_t process) const {
    static const std::string none;
    const auto found = process_names_.find(process);
    return found == process_names_.end() ? none : found->second;
}

const std::string& TraceTables::thread_name(std::int64_t process, std::int64_t thread) const {
    static const std::string none;
    const auto found = thread_names_.find({process, thread, 0});
    return found == thread_names_.end() ? none : found->second;
}

void TraceTables::take_metadata(const JsonEvent& event) {
    const std::string_view what = event.text(Key::name);
    if (!event.has(Key::arg_name) || process_names_.size() + thread_names_.size() > 100'000) return;
    unescape(event.text(Key::arg_name), scratch_);
    const std::int64_t process = number_of(event[Key::pid]);
    if (what == "process_name") process_names_[process] = scratch_;
    if (what == "thread_name") thread_names_[{process, number_of(event[Key::tid]), 0}] = scratch_;
}

void TraceTables::edge(PathId from, PathId to) {
    const auto [found, fresh] = edges_.try_emplace(std::uint64_t{from} << 32U | to, about.edges.size());
    if (!fresh)
        ++about.edges[found->second].count;
    else if (about.edges.size() < most_edges)
        about.edges.push_back({from, to, 1});
    else
        edges_.erase(found);
}

void TraceTables::name_lanes() {
    if (file_names_lanes) return;
    for (Lane& one : about.lanes) {
        one.name = thread_name(one.process, one.thread);
        if (one.name.empty()) one.name = process_name(one.process);
    }
}

void TraceTables::lose(std::string_view why, const JsonEvent& event) {
    about.warn(why, fmt::format("at byte {}", event.offset));
    ++about.lost_events;
}

}  // namespace viridian::trace
