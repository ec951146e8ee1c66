#pragma once
// Says which choices may stand beside each other if kernels work in place (docs/search.md, "In place"),
// because two must not fight over one buffer. Instance settles what a choice alone tells; this is about pairs
// of choices that meet at a value.
#include "viridian/search/assign/instance.hpp"

namespace viridian::search {

// The format in which the region writes the value for others, or asks for it; absent if it does neither.
[[nodiscard]] std::optional<FormatId> made(const Candidate& candidate, const Option& option,
                                           graph::ValueId value);
[[nodiscard]] std::optional<FormatId> wanted(const Candidate& candidate, const Option& option,
                                             graph::ValueId value);
// Whether the region takes the value as a slice of its output.
[[nodiscard]] bool gathers(const Candidate& candidate, const Option& option, graph::ValueId value);

struct Chosen {
    const Candidate& candidate;
    const Option& option;
};
[[nodiscard]] bool writer_clashes(const Chosen& writer, const Chosen& reader, graph::ValueId value);
[[nodiscard]] bool readers_clash(const Chosen& a, const Chosen& b, graph::ValueId value);

}  // namespace viridian::search
