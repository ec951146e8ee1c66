#pragma once
// Which choices may stand beside each other when kernels work in place (docs/search.md, "In place"): two must
// not fight over one buffer. What a choice alone tells is settled by Instance; here, pairs of choices that
// meet at a value.
#include "viridian/search/instance.hpp"

namespace viridian::search {

// Format in which the region writes the value for others, or asks for it; none where it does not.
[[nodiscard]] std::optional<FormatId> made(const Candidate& candidate, const Option& option,
                                           graph::ValueId value);
[[nodiscard]] std::optional<FormatId> wanted(const Candidate& candidate, const Option& option,
                                             graph::ValueId value);
// The region takes the value as a slice of its output.
[[nodiscard]] bool gathers(const Candidate& candidate, const Option& option, graph::ValueId value);

struct Chosen {
    const Candidate& candidate;
    const Option& option;
};
[[nodiscard]] bool writer_clashes(const Chosen& writer, const Chosen& reader, graph::ValueId value);
[[nodiscard]] bool readers_clash(const Chosen& a, const Chosen& b, graph::ValueId value);

}  // namespace viridian::search
