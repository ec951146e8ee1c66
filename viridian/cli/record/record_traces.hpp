#pragma once
// Prepares a program's environment so that `record` traces the program beside its power, and collects the
// traces: --torch (PyTorch's profiler, tools/on_device/torch_site) and --cupti (tools/cupti_inject).
#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"

namespace viridian::cli {

struct Tracing {
    bool torch = false, cupti = false;
    bool events = false;  // of torch: no CUPTI
    bool ends = false;    // `end_traces` will be called
};

// The whole environment as "NAME=value". Errors: file_not_found (a part of the installation is missing).
[[nodiscard]] Result<std::vector<std::string>> traced_environment(const Tracing& tracing, const Path& folder);

// Before the program is ended by a signal: lets the libraries in it write all they have, at most ten seconds.
void end_traces(const Tracing& tracing, const Path& folder);

// Packs what the program left in `folder`; {file, events, lost} of each. `stopped`: the program was ended
// because its time was up. Adds a warning for each trace that is missing.
[[nodiscard]] Result<Json> collect_traces(const Tracing& tracing, const Path& folder, bool stopped,
                                          std::vector<std::string>& warnings);

// Removes the traces that an earlier recording left in `folder`.
void remove_traces(const Path& folder);

}  // namespace viridian::cli
