#pragma once
// Where a format's reader puts what it finds: the tables of the trace, the lanes with what the file says
// about them, and the raw events, sorted by time on the way (on disk where they are many).
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "viridian/trace/json_events.hpp"
#include "viridian/trace/json_text.hpp"
#include "viridian/trace/raw.hpp"
#include "viridian/trace/sorter.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

class Intake {
  public:
    explicit Intake(const SpillOptions& spill);

    Trace about;

    // What a lane's events are, when the file's own rows say so (settled after reading).
    struct Rule {
        bool drop = false;         // the same work stands in another row too
        std::optional<Kind> kind;  // instead of the event's own
    };
    std::vector<Rule> rules;  // by LaneId, may be shorter

    bool lanes_settled = false;  // the lanes have their names
    PathId last_node = 0;        // the operator read last, for formats that write kernels behind it

    [[nodiscard]] NameId name(const JsonValue& value);
    [[nodiscard]] NameId name(std::string_view text);
    // "a/b/c" as a path from the root; the result for a name is remembered.
    [[nodiscard]] PathId path_of(NameId name, char separator = '/');
    [[nodiscard]] LaneId lane(DeviceId device, std::int64_t process, std::int64_t thread);
    [[nodiscard]] DeviceId accelerator(std::int64_t number);  // cuda:N
    // The number of a pid or tid; strings get numbers of their own, from `text_numbers` up.
    [[nodiscard]] std::int64_t number_of(const JsonValue& value);
    static constexpr std::int64_t text_numbers = std::int64_t{1} << 40;

    [[nodiscard]] const std::string& process_name(std::int64_t process) const;
    [[nodiscard]] const std::string& thread_name(std::int64_t process, std::int64_t thread) const;

    // The parts that every format shares: phase, times, lane. Nothing for metadata (kept) and for what is no
    // event.
    [[nodiscard]] std::optional<Raw> common(const JsonEvent& event);
    [[nodiscard]] Result<void> add(Raw raw);
    // A counter's series, one raw event each.
    [[nodiscard]] Result<void> add_counter(const JsonEvent& event, Raw raw);
    void edge(PathId from, PathId to);

    // After the last event: begin/end pairs become slices, clocks are known. Then `next` hands out in order.
    [[nodiscard]] Result<void> finish();
    [[nodiscard]] Result<const Raw*> next() { return slices_.next(); }
    [[nodiscard]] std::size_t runs() const { return slices_.runs(); }
    [[nodiscard]] std::uint64_t count() const { return order_; }
    [[nodiscard]] bool backward_seen() const { return backward_seen_; }
    [[nodiscard]] bool fractions_seen() const { return fractions_seen_; }
    [[nodiscard]] Nanoseconds earliest() const { return earliest_; }

  private:
    void metadata(const JsonEvent& event);
    [[nodiscard]] Result<void> pair_edges();

    struct LaneKey {
        std::int64_t process, thread;
        DeviceId device;
        bool operator==(const LaneKey&) const = default;
    };
    struct LaneHash {
        std::size_t operator()(const LaneKey& key) const {
            return (static_cast<std::size_t>(key.process) * 0x9e3779b97f4a7c15U ^
                    static_cast<std::size_t>(key.thread)) *
                       0xd6e8feb86659fd93U +
                   key.device;
        }
    };
    std::unordered_map<LaneKey, LaneId, LaneHash> lanes_;
    std::array<std::pair<LaneKey, LaneId>, 64> recent_;
    std::unordered_map<std::int64_t, std::string> process_names_;
    std::unordered_map<LaneKey, std::string, LaneHash> thread_names_;
    std::vector<DeviceId> accelerators_;
    std::vector<PathId> paths_;  // by NameId
    std::unordered_map<std::uint64_t, std::size_t> edges_;
    std::string scratch_;
    Sorter<Raw, RawBefore> slices_;
    Sorter<Raw, RawBefore> halves_;
    std::uint64_t order_ = 0;
    std::uint64_t halves_count_ = 0;
    Nanoseconds earliest_ = 0;
    Nanoseconds latest_ = 0;
    bool backward_seen_ = false;
    bool fractions_seen_ = false;
};

}  // namespace viridian::trace
