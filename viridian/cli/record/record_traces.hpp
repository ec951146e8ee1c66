#pragma once
// Prepares a program's environment so that `record` traces the program beside its power, and collects the
// traces: --torch (PyTorch's profiler, tools/on_device/torch_site) and --cupti (tools/cupti_inject).
#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"

namespace viridian::cli {

// Tracing says which traces are recorded.
struct Tracing {
    bool torch = false, cupti = false;
    bool events = false;  // with `torch`: CUDA events time a GPU's operators, where CUPTI may not trace
    bool ends = false;    // the program will be ended by SIGTERM, after a call of end_traces()
};

// Returns the whole environment of the program, as "NAME=value". The program will write its traces into
// `folder`. Errors: file_not_found (a part of the installation is missing).
[[nodiscard]] Result<std::vector<std::string>> traced_environment(const Tracing& tracing, const Path& folder);

// Lets the CUPTI libraries in the program write everything they have, and waits for that at most ten seconds.
// Call it before the program is ended by a signal.
void end_traces(const Tracing& tracing, const Path& folder);

// Packs what CUPTI recorded in `folder`, removes the raw files and names PyTorch's traces (torch_traces.hpp).
// Returns a list with `file` for each, `events` and `lost` for those of CUPTI, and what torch_traces.hpp says
// of those of PyTorch. `stopped` means that the program was ended because its time was up. Adds to `warnings`
// a sentence for each trace that is missing or incomplete. Errors: those of reading and writing traces.
[[nodiscard]] Result<Json> collect_traces(const Tracing& tracing, const Path& folder, bool stopped,
                                          std::vector<std::string>& warnings);

// Removes the traces that an earlier recording left in `folder`.
void remove_traces(const Path& folder);

}  // namespace viridian::cli
