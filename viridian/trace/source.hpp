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

    // The next events, valid until the next call; an empty batch is the end. Errors: file_unreadable,
    // malformed (not a trace at all), limit_exceeded, disk_full (spilling). A broken file is not an error:
    // what could not be read is counted in `about().warnings`.
    [[nodiscard]] virtual Result<std::span<const Event>> next() = 0;
    [[nodiscard]] virtual const Trace& about() const = 0;
};

// Takes the batches that a Source gave, then `finish` once.
class Sink {
  public:
    virtual ~Sink() = default;
    [[nodiscard]] virtual Result<void> take(std::span<const Event> batch, const Trace& about) = 0;
    [[nodiscard]] virtual Result<void> finish(const Trace& about) = 0;
};

// Pulls everything from `source` into `sink`.
[[nodiscard]] Result<void> copy(Source& source, Sink& sink);

// A Source of events that are in memory. They may come in any order and need only start, end, name, lane,
// device and kind: they are sorted, numbered and nested (parent, depth), and qualified if `path` is 0.
[[nodiscard]] std::unique_ptr<Source> from_memory(Trace about, std::vector<Event> events);

struct Collected {
    Trace about;
    std::vector<Event> events;
};
[[nodiscard]] Result<Collected> collect(Source& source);  // small traces and tests

}  // namespace viridian::trace
