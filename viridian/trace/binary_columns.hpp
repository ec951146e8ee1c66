#pragma once
// The events of a block by columns (block kind 'C' of the binary trace): starts as gaps behind the end of the
// lane's last event, durations as differences from the last one of the same name behind the same name, in
// planes of one byte each. What is alike lies together, which a compressor halves once more. Lossless.
#include <span>
#include <string>
#include <vector>

#include "viridian/trace/trace.hpp"
#include "viridian/trace/varint.hpp"

namespace viridian::trace {

// What follows a block's tables. `events` are in time order and belong to `about`.
[[nodiscard]] std::string encode_columns(std::span<const Event> events, const Trace& about);

// Adds the events to `events`; false where the bytes are damaged or name what the tables do not have.
[[nodiscard]] bool decode_columns(Cursor& in, const Trace& about, Nanoseconds shift,
                                  std::vector<Event>& events);

}  // namespace viridian::trace
