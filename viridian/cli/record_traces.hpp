#pragma once
// What `record` puts into a program's environment so that the program is traced beside its power, and what
// comes of it: --torch (PyTorch's profiler, tools/on_device/torch_site) and --cupti (tools/cupti_inject).
#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"

namespace viridian::cli {

struct Tracing {
    bool torch = false, cupti = false;
    bool events = false;  // of torch: no CUPTI
    bool ends = false;    // `end_traces` will be called
};

// "NAME=value" of the whole environment. Errors: file_not_found (a part of the installation is missing).
[[nodiscard]] Result<std::vector<std::string>> traced_environment(const Tracing& tracing, const Path& folder);

// Before the program is ended by a signal: lets the libraries in it write all they have, at most ten seconds.
void end_traces(const Tracing& tracing, const Path& folder);

// Packs what the program left in `folder`; {file, events, lost} of each. Warnings for what is missing.
[[nodiscard]] Result<Json> collect_traces(const Tracing& tracing, const Path& folder,
                                          std::vector<std::string>& warnings);

}  // namespace viridian::cli
