#pragma once
// The Resolver turns raw events in order of time into the events of a trace: it nests them, gives them
// qualified names and joins them. It finds the operator that launched an accelerator's work by the
// correlation number, else by the operator's external number, else by a flow. It finds the forward operator
// of a backward operator by forward thread and sequence number; the backward operator takes its scope. The
// resolver takes one pass. A module that is called inside backward work is computed again. Its joins are
// tables that spill to disk.
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
    // `tables` are complete and `events` are finished; both must outlive the resolver. `spill` says how much
    // memory the joins may take. `offset` (ns) is added to every time of the file. `slack` (ns) is the
    // rounding of the file's times: an event may end so much later than the event that encloses it. If
    // `flows_are_data`, a flow between two operators becomes an edge of the trace; if not, flows only connect
    // launches with work.
    Resolver(TraceTables& tables, RawEvents& events, const SpillOptions& spill, Nanoseconds offset,
             Nanoseconds slack, bool flows_are_data);

    // Returns the next events, which are valid until the next call. An empty batch is the end. Errors: those
    // of spilling.
    [[nodiscard]] Result<std::span<const Event>> next();

  private:
    // A Link is the part of an operator that later events need.
    struct Link {
        InstanceId instance = 0;
        InstanceId forward = 0;
        PathId path = 0;
        PathId scope = 0;
        Pass pass = Pass::unknown;
        bool is_operation = false;
    };
    [[nodiscard]] static Link link_of(const Nest::Open& open);
    [[nodiscard]] static Link link_of(const Event& event);

    [[nodiscard]] Result<void> take(const Raw& raw);  // makes the event of `raw`
    [[nodiscard]] Result<void> flow(const Raw& raw, Nanoseconds time);
    [[nodiscard]] Result<void> launch(const Raw& raw, const Event& event);
    [[nodiscard]] Result<void> accelerated(const Raw& raw, Event& event);
    [[nodiscard]] Result<void> backward(const Raw& raw, Event& event);  // finds the forward operator
    void own(Event& event, const Link& link);                           // makes `link` the owner of `event`
    void path_of(const Raw& raw, const Nest::Open* parent, Event& event);
    void hand_out(std::size_t count);

    TraceTables& tables_;
    RawEvents& events_;
    Nanoseconds offset_, slack_;
    bool flows_are_data_;
    std::size_t known_paths_;  // paths of the file have smaller numbers
    Nest nest_;
    JoinTable<Link> launches_, externals_, forwards_, flows_;
    std::unordered_map<std::uint32_t, LaneId> forward_lane_;  // by the profiler's thread number
    std::vector<LaneId> forward_lanes_;
    std::unordered_map<LaneId, Link> last_backward_;  // forward operator of the lane's last backward node
    // Work that came before its launch, by correlation number.
    std::unordered_map<std::uint64_t, std::vector<InstanceId>> waiting_;
    std::vector<Event> pending_;
    std::size_t handed_ = 0;
    bool done_ = false;
};

}  // namespace viridian::trace
