#pragma once
// Finds the Key (json_events.hpp) for the text of a JSON key. Both functions return Key::none for a text that
// no format needs.
#include <string_view>

#include "viridian/trace/json/json_events.hpp"

namespace viridian::trace {

// Returns the key of a member of an event.
[[nodiscard]] inline Key event_key(std::string_view text) {
    switch (text.size()) {
        case 2:
            return text == "ph"   ? Key::ph
                   : text == "ts" ? Key::ts
                   : text == "id" ? Key::id
                   : text == "bp" ? Key::bp
                                  : Key::none;
        case 3:
            return text == "pid"   ? Key::pid
                   : text == "tid" ? Key::tid
                   : text == "dur" ? Key::dur
                   : text == "cat" ? Key::cat
                                   : Key::none;
        case 4:
            return text == "name" ? Key::name : text == "args" ? Key::args : Key::none;
        default:
            return Key::none;
    }
}

// Returns the key of a member of an event's "args". Old and new spellings of one argument give one key.
[[nodiscard]] inline Key argument_key(std::string_view text) {
    switch (text.size()) {
        case 2:
            return text == "op" ? Key::arg_op : Key::none;
        case 4:
            return text == "name"   ? Key::arg_name
                   : text == "path" ? Key::path
                   : text == "pass" ? Key::pass
                   : text == "type" ? Key::type
                   : text == "kind" ? Key::kind
                                    : Key::none;
        case 5:
            return text == "tf_op" ? Key::tf_op : text == "scope" ? Key::scope : Key::none;
        case 6:
            return text == "stream"   ? Key::stream
                   : text == "device" ? Key::device
                   : text == "hlo_op" ? Key::hlo_op
                                      : Key::none;
        case 7:
            return text == "op_name" ? Key::op_name : Key::none;
        case 8:
            return text == "provider" ? Key::provider : Key::none;
        case 9:
            return text == "long_name" ? Key::long_name : Key::none;
        case 10:
            return text == "node_index"   ? Key::node_index
                   : text == "hlo_module" ? Key::hlo_module
                                          : Key::none;
        case 11:
            return text == "External id" || text == "external id" ? Key::external_id
                   : text == "correlation"                        ? Key::correlation
                   : text == "parent_name"                        ? Key::parent_name
                   : text == "graph_index"                        ? Key::node_index
                                                                  : Key::none;
        case 13:
            return text == "Fwd thread id" || text == "fwd thread id" ? Key::forward_thread : Key::none;
        case 14:
            return text == "correlation_id" ? Key::correlation : Key::none;
        case 15:
            return text == "Sequence number" || text == "sequence number" ? Key::sequence : Key::none;
        case 16:
            return text == "Module Hierarchy" ? Key::module_hierarchy : Key::none;
        default:
            return Key::none;
    }
}

}  // namespace viridian::trace
