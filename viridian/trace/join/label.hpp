#pragma once
// Gives kernels that were recorded alone their modules and operators. A few steps of a program are recorded
// with everything, the rest with kernels only, which costs little; a program repeats its kernels in the same
// order, so the n-th kernel of a step has the path, type and pass that the n-th had in the full recording.
#include <memory>
#include <unordered_map>
#include <vector>

#include "viridian/trace/source.hpp"

namespace viridian::trace {

// A Pattern is the accelerator's work of a full recording, in order of time.
struct Pattern {
    struct Call {
        NameId name = 0;
        NameId type = 0;
        PathId path = 0;
        PathId scope = 0;
        Pass pass = Pass::unknown;
    };
    Trace about;  // whose names and paths these are
    std::vector<Call> calls;
};
// Pulls `full` to its end. Errors: those of reading; mismatch if no kernel in it has an operator.
[[nodiscard]] Result<Pattern> pattern_of(Source& full);

// Adds the labels of `pattern` to `plain`. Kernels are matched by name while the order holds, and by the next
// eight names if it breaks. A kernel that matches nowhere stays as it was and counts as `about().unowned`.
[[nodiscard]] std::unique_ptr<Source> labelled(std::unique_ptr<Source> plain, Pattern pattern);

// Keeps only the accelerator's work of `full`: no owners, no modules, a kernel's path is its name.
[[nodiscard]] std::unique_ptr<Source> kernels_of(std::unique_ptr<Source> full);

}  // namespace viridian::trace
