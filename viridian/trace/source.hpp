#pragma once
// A Source hands out a trace's events in batches, in time order (`earlier`), with names, parents, owners and
// passes resolved. Memory does not grow with the file. A Sink takes batches the same way.
#include <memory>
#include <span>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

class Source {
  public:
    virtual ~Source() = default;

    // Returns the next events, which are valid until the next call. An empty batch is the end. Errors:
    // file_unreadable, malformed (not a trace at all), limit_exceeded, disk_full (spilling). A broken file is
    // not an error: its unreadable parts are counted in `about().warnings`.
    [[nodiscard]] virtual Result<std::span<const Event>> next() = 0;
    // Returns the tables of the trace, as far as it has been read.
    [[nodiscard]] virtual const Trace& about() const = 0;
};

// A Sink takes the batches of a Source in order, and then `finish` once.
class Sink {
  public:
    virtual ~Sink() = default;
    // `about` holds the tables of the trace. Errors: those of the sink, such as disk_full.
    [[nodiscard]] virtual Result<void> take(std::span<const Event> batch, const Trace& about) = 0;
    [[nodiscard]] virtual Result<void> finish(const Trace& about) = 0;
};

// Reads `source` to its end into `sink`, and finishes it. Errors: those of both.
[[nodiscard]] Result<void> copy(Source& source, Sink& sink);

// Returns a source of events that are in memory. They may come in any order and need only start, end, name,
// lane, device and kind: they are sorted, numbered and nested (parent, depth), and qualified if `path` is 0.
[[nodiscard]] std::unique_ptr<Source> from_memory(Trace about, std::vector<Event> events);

struct Collected {
    Trace about;
    std::vector<Event> events;
};
// Reads `source` to its end into memory, for small traces and tests.
[[nodiscard]] Result<Collected> collect(Source& source);

}  // namespace viridian::trace
