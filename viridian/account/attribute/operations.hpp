#pragma once
// Numbers the operations of one device of a trace, one per process, qualified name and pass, in order of
// appearance.
#include <unordered_map>

#include "viridian/account/attribute/leaf.hpp"
#include "viridian/account/result.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::account {

class Operations {
  public:
    // Returns the number of the operation to which `event` belongs, a new one if it is the first.
    // `about` is the trace.
    OperationId of(const trace::Event& event, const trace::Trace& about);
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    // Returns names, kind, pass and stream of `operation`. Seconds, count and energy are left empty. `about`
    // is the trace and `device` the device's name.
    [[nodiscard]] Operation describe(OperationId operation, const trace::Trace& about,
                                     std::string_view device) const;
    [[nodiscard]] trace::NameId type(OperationId operation) const { return entries_[operation].type; }

  private:
    struct Identity {
        trace::PathId path = 0;
        trace::NameId name = 0, type = 0;
        trace::Kind kind = trace::Kind::operation;
        trace::Pass pass = trace::Pass::unknown;
        trace::LaneId lane = 0;
        bool several_lanes = false;
    };
    // The numbers of one process of the trace.
    struct Known {
        std::vector<std::uint32_t> by_path;  // trace::pass_count per path; 0: none, else id + 1
        std::unordered_map<std::uint64_t, OperationId> unqualified;
    };
    std::vector<Identity> entries_;
    std::vector<Known> known_;  // by Lane::part
};

}  // namespace viridian::account
