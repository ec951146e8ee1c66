#pragma once
// TraceTables holds the tables of a trace while its JSON is read: names, paths, devices, lanes and data-flow
// edges, each looked up by what the file says and added if it is new. The formats fill them.
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "viridian/trace/json/json_events.hpp"
#include "viridian/trace/json/json_text.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

class TraceTables {
  public:
    TraceTables();

    Trace about;

    // A Rule says how to read the events of a lane, if the file tells it only after the last event.
    struct Rule {
        bool drop = false;         // another lane has the same work too
        std::optional<Kind> kind;  // replaces the event's own
    };
    std::vector<Rule> rules;  // by LaneId, may be shorter
    // The file's own tables gave the lanes their names and the trace its clock.
    bool file_names_lanes = false;

    // Return the number of a name and add it if it is new. The first form undoes escapes.
    [[nodiscard]] NameId name(const JsonValue& value);
    [[nodiscard]] NameId name(std::string_view text);
    // Returns a name such as "a/b/c" as a path from the root. The path of a name is remembered, so a name
    // must always come with the same separator.
    [[nodiscard]] PathId path_of(NameId name, char separator = '/');
    // Returns the lane of a thread or stream on a device, new or known.
    [[nodiscard]] LaneId lane(DeviceId device, std::int64_t process, std::int64_t thread);
    // Returns the lane on cpu:0 of an event's process and thread.
    [[nodiscard]] LaneId lane(const JsonEvent& event);
    [[nodiscard]] DeviceId accelerator(std::int64_t number);  // returns the device cuda:N
    // Returns the number of a pid or tid. Strings get numbers of their own, from `text_numbers` up.
    [[nodiscard]] std::int64_t number_of(const JsonValue& value);
    static constexpr std::int64_t text_numbers = std::int64_t{1} << 40;

    // Keeps the name of a process or thread that a metadata event gives.
    void take_metadata(const JsonEvent& event);
    // Return the name of a process or thread, "" if the file gives none.
    [[nodiscard]] const std::string& process_name(std::int64_t process) const;
    [[nodiscard]] const std::string& thread_name(std::int64_t process, std::int64_t thread) const;
    // Gives each lane the name of its thread or process, after the last event.
    void name_lanes();

    // Counts one flow of data from `from` to `to`.
    void edge(PathId from, PathId to);
    // Counts `event` as lost because it cannot be read, and warns; `why` is the text of the warning.
    void lose(std::string_view why, const JsonEvent& event);

  private:
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
};

}  // namespace viridian::trace
