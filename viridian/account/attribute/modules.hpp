#pragma once
// Collects the modules that a trace names: their qualified names, their classes and how often each was
// called.
#include <vector>

#include "viridian/account/result.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::account {

class Modules {
  public:
    // Counts `event` if it is a call of a module. `about` is the trace.
    void add(const trace::Event& event, const trace::Trace& about);
    // Returns the modules in the order of their first call. `about` is the trace.
    [[nodiscard]] std::vector<Module> describe(const trace::Trace& about) const;

  private:
    struct Entry {
        trace::PathId path = 0;
        trace::NameId type = 0;
        trace::LaneId lane = 0;  // of the first call
        std::uint64_t calls = 0, recomputed = 0;
    };
    std::vector<Entry> entries_;
    // By the process of the trace (Lane::part) and the path. 0: none, else the number of an entry + 1.
    std::vector<std::vector<std::uint32_t>> by_path_;
};

}  // namespace viridian::account
