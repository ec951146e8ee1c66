#pragma once
// Stores the events of a block by columns, without loss (block kind 'C' of the binary trace): starts as gaps
// behind the end of the lane's last event, durations as differences from the last one of the same name behind
// the same name, in planes of one byte each. Equal values lie together, which halves the compressed size.
#include <span>
#include <string>
#include <vector>

#include "viridian/trace/binary/varint.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

// The bytes that follow a block's tables. `events` are in time order and belong to `about`.
[[nodiscard]] std::string encode_columns(std::span<const Event> events, const Trace& about);

// Adds the events to `events`; false if the bytes are damaged or name what the tables do not have.
[[nodiscard]] bool decode_columns(Cursor& in, const Trace& about, Nanoseconds shift,
                                  std::vector<Event>& events);

}  // namespace viridian::trace
