#pragma once
// Defines Format, which understands one JSON format, and lists all of them. Each has a source file of its
// own. A format decides from a sample of a text whether the text is in that format, interprets each event,
// and after the last one the rows of the file. To add a format, write its source, declare and list it in
// formats.cpp, and test it. The end of a source's first comment is the format's row in docs/trace.md.
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/trace/formats/chrome_event.hpp"
#include "viridian/trace/json/json_events.hpp"

namespace viridian::trace {

// A Sample summarises the first events of a text.
struct Sample {
    bool bare_list = false;                 // the text is a list without an object around it
    std::set<std::string> top;              // keys beside the events
    std::map<std::string, int> categories;  // how often each `cat` occurs
    std::set<std::string> processes;        // names of processes, and pids that are text
    std::uint64_t arguments = 0;            // bit per Key
    int events = 0;                         // number of events in the sample

    [[nodiscard]] bool has(Key key) const { return (arguments >> static_cast<unsigned>(key) & 1U) != 0; }
    [[nodiscard]] bool has(std::string_view category) const {
        return categories.contains(std::string(category));
    }
};
// Returns the sample of `text`, the beginning of a file.
[[nodiscard]] Sample sample_of(std::string_view text);

// Understand completes the event `raw`, of which phase and times are known, from its JSON `event`, and adds
// to `tables`. It returns nothing if the event is of no use. One function object reads one file, so that it
// may remember earlier events.
using Understand = std::function<std::optional<Raw>(const JsonEvent& event, Raw raw, TraceTables& tables)>;

// TraceEnd holds what is known after the last event.
struct TraceEnd {
    std::span<const std::pair<std::string, std::string>> top;  // keys and values beside the events
    std::uint64_t events = 0;
};

struct Format {
    std::string_view name;
    bool (*recognises)(const Sample& sample);  // returns whether the text is in this format
    Understand (*reader)();                    // returns a new function object for a file
    // Is called after the last event, to complete `tables`. May be null.
    void (*settle)(TraceTables& tables, const TraceEnd& end) = nullptr;
    bool flows_are_data = false;  // the flows of the file are data flow, not launches
};

// Returns all formats in the order in which they are tried. The last one recognises everything.
[[nodiscard]] std::span<const Format> formats();

// Makes `raw` a scope called `name`: "encoder/layer_0" and "encoder.layer.0" give parts of the paths of the
// events inside it, "ProfilerStep#7" gives none.
void name_scope(TraceTables& tables, Raw& raw, const JsonValue& name);
// Gives `raw` the whole path `text` ("bert/encoder/MatMul"), and its parent as the scope.
void name_path(TraceTables& tables, Raw& raw, std::string_view text);
// Returns the kind of event that PyTorch's category `cat` means.
[[nodiscard]] Kind kind_of_category(std::string_view category);

}  // namespace viridian::trace
