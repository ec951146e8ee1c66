#pragma once
// Gives kernels that were recorded alone their modules and operators. A few steps of a program are recorded
// with everything, and the rest with kernels only, which costs little. A program repeats its kernels in the
// same order, so the n-th kernel of a step has the path, type and pass of the n-th kernel of a step
// in the full recording.
#include <memory>
#include <unordered_map>
#include <vector>

#include "viridian/trace/source.hpp"

namespace viridian::trace {

// A Pattern is the accelerator's work of a full recording, in order of time.
struct Pattern {
    // A Call is one kernel, with the labels that it hands on.
    struct Call {
        NameId name = 0;
        NameId type = 0;
        PathId path = 0;
        PathId scope = 0;
        Pass pass = Pass::unknown;
    };
    Trace about;  // tables of the names and paths in `calls`
    std::vector<Call> calls;
};
// Reads the full recording `full` to its end and returns its pattern. Errors: those of reading; mismatch if
// no kernel in it has an operator.
[[nodiscard]] Result<Pattern> pattern_of(Source& full);

// Returns a source of `plain` with the labels of `pattern`. Each kernel takes the labels of the pattern's
// next call while their names agree. Where they do not, or the pattern ends, it goes on at the place of the
// pattern where the names of this kernel and the next seven stand. If they stand nowhere, or fewer than
// eight kernels are left, the kernel stays as it was and counts as `about().unowned`.
[[nodiscard]] std::unique_ptr<Source> labelled(std::unique_ptr<Source> plain, Pattern pattern);

// Returns a source of only the accelerator's work of `full`. It has no owners and no modules, and a kernel's
// path is its name.
[[nodiscard]] std::unique_ptr<Source> kernels_of(std::unique_ptr<Source> full);

}  // namespace viridian::trace
