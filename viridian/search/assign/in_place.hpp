#pragma once
// Says which choices may be combined if kernels work in place (docs/search.md, "In place"), because two
// kernels must not claim one buffer. Instance checks each choice alone; this header checks pairs of choices
// that meet at a value.
#include "viridian/search/assign/instance.hpp"

namespace viridian::search {

// These return the format in which a region with this option writes `value` for others, or reads it from
// outside; nothing if it does neither.
[[nodiscard]] std::optional<FormatId> made(const Candidate& candidate, const Option& option,
                                           graph::ValueId value);
[[nodiscard]] std::optional<FormatId> wanted(const Candidate& candidate, const Option& option,
                                             graph::ValueId value);
// Returns whether the region takes `value` as a slice of its output (concatenation in place).
[[nodiscard]] bool gathers(const Candidate& candidate, const Option& option, graph::ValueId value);

// A Chosen is a region with the option chosen for it.
struct Chosen {
    const Candidate& candidate;
    const Option& option;
};
// Returns whether `reader` cannot have `value` as `writer` leaves it: it overwrites the buffer although
// another live value lies there, or it gathers the value although `writer` works in place itself. A value
// that is converted in between never clashes.
[[nodiscard]] bool writer_clashes(const Chosen& writer, const Chosen& reader, graph::ValueId value);
// Returns whether `a` and `b` cannot both read `value` from the same buffer: both overwrite or gather it,
// or one overwrites what the other views.
[[nodiscard]] bool readers_clash(const Chosen& a, const Chosen& b, graph::ValueId value);

}  // namespace viridian::search
