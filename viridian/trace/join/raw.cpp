#include "viridian/trace/join/raw.hpp"

#include <bit>

#include "viridian/trace/binary/varint.hpp"

namespace viridian::trace {
namespace {

// Fields that most records leave at what they are without being set.
enum : unsigned {
    has_sequence = 1U,
    has_value = 2U,
    has_type = 4U,  // another than the name
    has_path = 8U,
    has_thread = 16U,
    is_relative = 32U,
    is_whole = 64U,
    is_no_part = 128U,
};

unsigned flags_for(const Raw& raw) {
    return (raw.sequence != -1 ? has_sequence : 0U) |
           (std::bit_cast<std::uint64_t>(raw.value) != 0 ? has_value : 0U) |
           (raw.type != raw.name ? has_type : 0U) | (raw.path != 0 || raw.scope != 0 ? has_path : 0U) |
           (raw.forward_thread != 0 ? has_thread : 0U) | (raw.relative ? is_relative : 0U) |
           (raw.whole ? is_whole : 0U) | (raw.no_part ? is_no_part : 0U);
}

// All differences wrap, so that any times and numbers come back.
std::uint64_t less(std::uint64_t value, std::uint64_t before) {
    const std::uint64_t difference = value - before;
    return difference << 1U ^ (0U - (difference >> 63U));
}
std::uint64_t more(std::uint64_t folded, std::uint64_t before) {
    return (folded >> 1U ^ (0U - (folded & 1U))) + before;
}
std::uint64_t wide(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

void RawBefore::pack(std::span<const Raw> records, std::string& out) {
    Raw before;
    for (const Raw& raw : records) {
        const unsigned flags = flags_for(raw);
        out += static_cast<char>(flags);
        out += static_cast<char>(static_cast<unsigned>(raw.kind) | static_cast<unsigned>(raw.pass) << 4U);
        out += static_cast<char>(raw.phase);
        put_varint(out, less(wide(raw.start), wide(before.start)));
        put_varint(out, less(wide(raw.end), wide(raw.start)));
        put_varint(out, less(raw.order, before.order));
        put_varint(out, less(raw.correlation, before.correlation));
        put_varint(out, less(raw.external, raw.correlation));
        put_varint(out, raw.name);
        put_varint(out, raw.lane);
        if ((flags & has_sequence) != 0) put_varint(out, less(wide(raw.sequence), raw.external));
        if ((flags & has_value) != 0) put_double(out, raw.value);
        if ((flags & has_type) != 0) put_varint(out, raw.type);
        if ((flags & has_path) != 0) put_varint(out, raw.path), put_varint(out, raw.scope);
        if ((flags & has_thread) != 0) put_varint(out, raw.forward_thread);
        before = raw;
    }
}

bool RawBefore::unpack(std::string_view packed, std::span<Raw> records) {
    Cursor in(packed);
    Raw before;
    for (Raw& raw : records) {
        const std::string_view head = in.take(3);
        if (in.failed()) return false;
        const auto flags = static_cast<unsigned char>(head[0]), kinds = static_cast<unsigned char>(head[1]);
        raw.kind = static_cast<Kind>(kinds & 15U);
        raw.pass = static_cast<Pass>(kinds >> 4U);
        raw.phase = static_cast<Raw::Phase>(head[2]);
        raw.start = static_cast<Nanoseconds>(more(in.varint(), wide(before.start)));
        raw.end = static_cast<Nanoseconds>(more(in.varint(), wide(raw.start)));
        raw.order = more(in.varint(), before.order);
        raw.correlation = more(in.varint(), before.correlation);
        raw.external = more(in.varint(), raw.correlation);
        raw.name = static_cast<NameId>(in.varint());
        raw.lane = static_cast<LaneId>(in.varint());
        raw.sequence =
            (flags & has_sequence) != 0 ? static_cast<std::int64_t>(more(in.varint(), raw.external)) : -1;
        raw.value = (flags & has_value) != 0 ? in.real() : 0.0;
        raw.type = (flags & has_type) != 0 ? static_cast<NameId>(in.varint()) : raw.name;
        raw.path = (flags & has_path) != 0 ? static_cast<PathId>(in.varint()) : 0;
        raw.scope = (flags & has_path) != 0 ? static_cast<PathId>(in.varint()) : 0;
        raw.forward_thread = (flags & has_thread) != 0 ? static_cast<std::uint32_t>(in.varint()) : 0;
        raw.relative = (flags & is_relative) != 0;
        raw.whole = (flags & is_whole) != 0;
        raw.no_part = (flags & is_no_part) != 0;
        before = raw;
    }
    return !in.failed() && in.done();
}

}  // namespace viridian::trace
