#pragma once
// Stores the events of a block by columns, without loss (block kind 'C' of the binary trace). The start of
// an accelerator's work is stored as the gap after the last event of its lane, any other start as the
// difference from the start of the event before it. A duration is stored as the difference from the last
// duration for the same pair of names: that of the event and that of the event before it. Numbers are split
// into planes of one byte each. Equal values lie together, which halves the compressed size.
#include <span>
#include <string>
#include <vector>

#include "viridian/trace/binary/varint.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

// Returns the bytes that follow a block's tables. `events` are in time order and belong to `about`.
[[nodiscard]] std::string encode_columns(std::span<const Event> events, const Trace& about);

// Reads the events from `in`, adds `shift` to their times and appends them to `events`. Returns false if the
// bytes are damaged or name an entry that the tables of `about` lack.
[[nodiscard]] bool decode_columns(Cursor& in, const Trace& about, Nanoseconds shift,
                                  std::vector<Event>& events);

}  // namespace viridian::trace
