#pragma once
// The Resolver turns raw events in order of time into events: nested, named and joined. Accelerator work
// finds the operator that launched it by correlation number, else by the operator's external number, else by
// a flow; backward operators find their forward operator by (forward thread, sequence number) and take its
// scope. It takes one pass; the joins are tables that spill to disk.
#include <span>
#include <unordered_map>
#include <vector>

#include "viridian/trace/join/join_table.hpp"
#include "viridian/trace/join/nest.hpp"
#include "viridian/trace/join/raw_events.hpp"
#include "viridian/trace/join/trace_tables.hpp"

namespace viridian::trace {

class Resolver {
  public:
    // `tables` are complete and `events` are finished; both outlive the resolver. `offset` is added to every
    // time; `slack` is the file's rounding.
    Resolver(TraceTables& tables, RawEvents& events, const SpillOptions& spill, Nanoseconds offset,
             Nanoseconds slack, bool flows_are_data);

    // The next events, valid until the next call; empty at the end.
    [[nodiscard]] Result<std::span<const Event>> next();

  private:
    struct Link {  // what is remembered of an operator
        InstanceId instance = 0;
        InstanceId forward = 0;
        PathId path = 0;
        PathId scope = 0;
        Pass pass = Pass::unknown;
        bool is_operation = false;
    };
    [[nodiscard]] static Link link_of(const Nest::Open& open);
    [[nodiscard]] static Link link_of(const Event& event);

    [[nodiscard]] Result<void> take(const Raw& raw);
    [[nodiscard]] Result<void> flow(const Raw& raw, Nanoseconds time);
    [[nodiscard]] Result<void> launch(const Raw& raw, const Event& event);
    [[nodiscard]] Result<void> accelerated(const Raw& raw, Event& event);
    [[nodiscard]] Result<void> backward(const Raw& raw, Event& event);
    void own(Event& event, const Link& link);
    void path_of(const Raw& raw, const Nest::Open* parent, Event& event);
    void hand_out(std::size_t count);

    TraceTables& tables_;
    RawEvents& events_;
    Nanoseconds offset_, slack_;
    bool flows_are_data_;
    std::size_t known_paths_;  // numbers from here on mean nothing in the file
    Nest nest_;
    JoinTable<Link> launches_, externals_, forwards_, flows_;
    std::unordered_map<std::uint32_t, LaneId> forward_lane_;  // by the profiler's thread number
    std::vector<LaneId> forward_lanes_;
    std::unordered_map<std::uint64_t, std::vector<InstanceId>>
        waiting_;  // work before its launch, by correlation
    std::vector<Event> pending_;
    std::size_t handed_ = 0;
    bool done_ = false;
};

}  // namespace viridian::trace
