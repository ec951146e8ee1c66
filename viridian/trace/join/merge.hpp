#pragma once
// Merges the traces of the processes of one program into one trace, in order of time. Names are shared; every
// lane keeps the process that it belongs to.
#include <memory>
#include <string>
#include <vector>

#include "viridian/trace/source.hpp"

namespace viridian::trace {

struct Part {
    std::string process;  // its name for people, "rank 0"
    std::unique_ptr<Source> source;
};

// Returns a source of the events of all `parts`, of which there is at least one. `about().processes` are the
// parts' names in their order, and the lanes of a part have its index. Instances keep their order in a part,
// but are not numbered without gaps. Errors of `next`: those of the parts; mismatch (the clock of a part has
// no epoch, so that the parts cannot be put in order).
[[nodiscard]] std::unique_ptr<Source> merged(std::vector<Part> parts);

}  // namespace viridian::trace
