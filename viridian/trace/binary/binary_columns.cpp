#include "viridian/trace/binary/binary_columns.hpp"

#include <array>
#include <unordered_map>

#include "viridian/trace/binary/binary_flags.hpp"

namespace viridian::trace {
namespace {

enum Column : std::size_t {
    flags_of,
    kind_of,
    name_of_event,
    path_of,  // minus the last path of the same name
    lane_of,
    depth_of,
    start_of,  // see Before
    instance_of,
    parent_of,
    owner_of,
    forward_of,
    correlation_of,  // minus the last one
    sequence_of,     // minus the last one
    type_of,
    scope_of,  // minus the last scope of the same name
    device_of,
    value_of,
    columns,
};
constexpr std::size_t planes = 8;
constexpr std::uint64_t binary_columns_most_events = std::uint64_t{1} << 16;

using Wide = std::uint64_t;
constexpr Wide fold(Wide difference) { return difference << 1U ^ (0U - (difference >> 63U)); }
constexpr Wide unfold(Wide folded) { return folded >> 1U ^ (0U - (folded & 1U)); }

// What both sides know when an event is written: all arithmetic wraps, so that any bytes decode to something.
class Before {
  public:
    Before(std::size_t names, std::size_t lanes, Nanoseconds first)
        : path_(names),
          scope_(names),
          lane_end_(lanes, static_cast<Wide>(first)),
          last_start_(static_cast<Wide>(first)) {}
    // Work of accelerators follows what was before it on its stream; the rest follows the last event.
    [[nodiscard]] Wide start(Kind kind, LaneId lane) const {
        return is_work(kind) && kind != Kind::operation ? lane_end_[lane] : last_start_;
    }
    [[nodiscard]] Wide& duration(NameId name) { return durations_[Wide{last_name_} << 32U | name]; }
    [[nodiscard]] PathId& path(NameId name) { return path_[name]; }
    [[nodiscard]] PathId& scope(NameId name) { return scope_[name]; }
    void passed(NameId name, LaneId lane, Wide start, Wide end) {
        last_name_ = name;
        last_start_ = start;
        lane_end_[lane] = end;
    }
    Wide correlation = 0, sequence = 0, instance = 0;

  private:
    std::vector<PathId> path_, scope_;
    std::vector<Wide> lane_end_;
    Wide last_start_;
    std::unordered_map<Wide, Wide> durations_;
    NameId last_name_ = 0;
};

}  // namespace

std::string encode_columns(std::span<const Event> events, const Trace& about) {
    std::array<std::string, columns> column;
    std::array<std::string, planes> plane;
    std::string out;
    put_varint(out, events.size());
    if (events.empty()) return out;
    put_signed(out, events.front().start);
    Before before(about.names.size(), about.lanes.size(), events.front().start);
    for (const Event& event : events) {
        const unsigned flags = flags_for(event, about, before.instance + 1);
        const Wide start = static_cast<Wide>(event.start), end = static_cast<Wide>(event.end);
        put_varint(column[flags_of], flags);
        column[kind_of] +=
            static_cast<char>(static_cast<unsigned>(event.kind) | static_cast<unsigned>(event.pass) << 4U);
        put_varint(column[name_of_event], event.name);
        put_varint(column[path_of], fold(Wide{event.path} - before.path(event.name)));
        put_varint(column[lane_of], event.lane);
        put_varint(column[depth_of], event.depth);
        put_varint(column[start_of], fold(start - before.start(event.kind, event.lane)));
        Wide& duration = before.duration(event.name);
        const Wide changed = fold(end - start - duration);
        for (std::size_t i = 0; i < planes; ++i) plane[i] += static_cast<char>(changed >> 8U * i);
        if ((flags & flag_instance) != 0) put_varint(column[instance_of], event.instance);
        if ((flags & flag_parent) != 0) put_varint(column[parent_of], fold(event.instance - event.parent));
        if ((flags & flag_owner) != 0) put_varint(column[owner_of], fold(event.instance - event.owner));
        if ((flags & flag_forward) != 0) put_varint(column[forward_of], fold(event.instance - event.forward));
        if ((flags & flag_correlation) != 0)
            put_varint(column[correlation_of], fold(event.correlation - before.correlation)),
                before.correlation = event.correlation;
        if ((flags & flag_sequence) != 0) {
            const auto sequence = static_cast<Wide>(event.sequence);
            put_varint(column[sequence_of], fold(sequence - before.sequence));
            before.sequence = sequence;
        }
        if ((flags & flag_type) != 0) put_varint(column[type_of], event.type);
        if ((flags & flag_scope) != 0)
            put_varint(column[scope_of], fold(Wide{event.scope} - before.scope(event.name))),
                before.scope(event.name) = event.scope;
        if ((flags & flag_device) != 0) put_varint(column[device_of], event.device);
        if ((flags & flag_value) != 0) put_double(column[value_of], event.value);
        duration = end - start;
        before.path(event.name) = event.path;
        before.instance = event.instance;
        before.passed(event.name, event.lane, start, end);
    }
    for (const std::string& bytes : column) put_text(out, bytes);
    for (const std::string& bytes : plane) out += bytes;
    return out;
}

bool decode_columns(Cursor& in, const Trace& about, Nanoseconds shift, std::vector<Event>& events) {
    const Wide count = in.varint();
    if (count == 0) return !in.failed() && in.done();
    if (count > binary_columns_most_events) return false;
    const Nanoseconds first = in.signed_varint();
    std::vector<Cursor> column;
    for (std::size_t i = 0; i < columns; ++i) column.emplace_back(in.text());
    std::array<std::string_view, planes> plane;
    for (std::string_view& bytes : plane) bytes = in.take(count);
    if (in.failed() || !in.done()) return false;
    const std::size_t names = about.names.size(), paths = about.paths.size(), lanes = about.lanes.size();
    Before before(names, lanes, first);
    Nanoseconds last = first;
    for (std::size_t i = 0; i < count; ++i) {
        Event& event = events.emplace_back();
        const auto flags = static_cast<unsigned>(column[flags_of].varint());
        const auto packed = static_cast<unsigned>(column[kind_of].varint());
        const Wide name = column[name_of_event].varint(), lane = column[lane_of].varint();
        if (name >= names || lane >= lanes || (packed & 15U) >= kind_count || packed >> 4U >= pass_count)
            return false;
        event.name = event.type = static_cast<NameId>(name);
        event.lane = static_cast<LaneId>(lane);
        event.kind = static_cast<Kind>(packed & 15U);
        event.pass = static_cast<Pass>(packed >> 4U);
        event.device = about.lanes[lane].device;
        const Wide path = unfold(column[path_of].varint()) + before.path(event.name);
        event.depth = static_cast<std::uint32_t>(column[depth_of].varint());
        const auto start = static_cast<Nanoseconds>(unfold(column[start_of].varint()) +
                                                    before.start(event.kind, event.lane));
        Wide changed = 0;
        for (std::size_t p = 0; p < planes; ++p)
            changed |= Wide{static_cast<unsigned char>(plane[p][i])} << 8U * p;
        Wide& known = before.duration(event.name);
        const Wide duration = unfold(changed) + known;
        Nanoseconds end = 0;
        if (path >= paths || start < last || static_cast<Nanoseconds>(duration) < 0 ||
            __builtin_add_overflow(start, static_cast<Nanoseconds>(duration), &end) ||
            __builtin_add_overflow(start, shift, &event.start) ||
            __builtin_add_overflow(end, shift, &event.end))
            return false;
        event.path = static_cast<PathId>(path);
        event.instance = (flags & flag_instance) != 0 ? column[instance_of].varint() : before.instance + 1;
        const auto back = [&](Column which) { return event.instance - unfold(column[which].varint()); };
        if ((flags & flag_parent) != 0) event.parent = back(parent_of);
        if ((flags & flag_owner) != 0) event.owner = back(owner_of);
        if ((flags & flag_forward) != 0) event.forward = back(forward_of);
        if ((flags & flag_correlation) != 0)
            event.correlation = before.correlation += unfold(column[correlation_of].varint());
        if ((flags & flag_sequence) != 0)
            event.sequence =
                static_cast<std::int64_t>(before.sequence += unfold(column[sequence_of].varint()));
        if ((flags & flag_type) != 0) event.type = static_cast<NameId>(column[type_of].varint());
        if ((flags & flag_scope) != 0)
            event.scope = before.scope(event.name) =
                static_cast<PathId>(unfold(column[scope_of].varint()) + before.scope(event.name));
        if ((flags & flag_device) != 0) event.device = static_cast<DeviceId>(column[device_of].varint());
        if ((flags & flag_value) != 0) event.value = column[value_of].real();
        if (event.type >= names || event.scope >= paths || event.device >= about.devices.size()) return false;
        known = duration;
        before.path(event.name) = event.path;
        before.instance = event.instance;
        before.passed(event.name, event.lane, static_cast<Wide>(start), static_cast<Wide>(end));
        last = start;
    }
    for (const Cursor& one : column)
        if (one.failed() || !one.done()) return false;
    return true;
}

}  // namespace viridian::trace
