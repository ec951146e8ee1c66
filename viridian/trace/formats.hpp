#pragma once
// The JSON formats that are understood, one file each. A format says from a sample of the text whether it is
// its own, what each event means, and, after the last one, what the rows were.
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/trace/intake.hpp"
#include "viridian/trace/json_events.hpp"

namespace viridian::trace {

// What the first events of a text look like.
struct Sample {
    bool bare_list = false;
    std::set<std::string> top;              // keys beside the events
    std::map<std::string, int> categories;  // how often each `cat` occurs
    std::set<std::string> processes;        // names of processes, and pids that are text
    std::uint64_t arguments = 0;            // bit per Key
    int events = 0;

    [[nodiscard]] bool has(Key key) const { return (arguments >> static_cast<unsigned>(key) & 1U) != 0; }
    [[nodiscard]] bool has(std::string_view category) const {
        return categories.contains(std::string(category));
    }
};
[[nodiscard]] Sample sample_of(std::string_view text);

struct Format {
    std::string_view name;
    bool (*recognises)(const Sample& sample);
    // Completes `raw` (phase, times are there) from `event`; false: it carries nothing for us.
    bool (*understand)(const JsonEvent& event, Intake& intake, Raw& raw);
    void (*settle)(Intake& intake,
                   std::span<const std::pair<std::string, std::string>> top);  // may be nullptr
};

// In the order in which they are asked; the last takes everything.
[[nodiscard]] std::span<const Format> formats();

// The understanding of each (viridian_json.cpp, kineto.cpp, ...).
extern const Format viridian_json_format, kineto_format, torch_legacy_format, onnxruntime_format,
    tensorflow_timeline_format, tensorflow_profile_format, chrome_format;

// Shared by several formats.
// A span that only names: "encoder/layer_0" and "encoder.layer.0" give path parts; "ProfilerStep#7" none.
void name_scope(Intake& intake, Raw& raw, const JsonValue& name);
// The name with the whole path `text` ("bert/encoder/MatMul"); scope is its parent.
void name_path(Intake& intake, Raw& raw, std::string_view text);
[[nodiscard]] Kind kind_of_category(std::string_view category);

}  // namespace viridian::trace
