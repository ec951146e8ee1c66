#pragma once
// Collects what the processes of a program left when PyTorch's profiler recorded each of them
// (tools/on_device/torch_site): `torch.PID.json.gz`, the trace, and `torch.PID.about`, a JSON object with the
// facts of the process. While it runs these tell which thread will write its trace when SIGTERM reaches it
// (`listener`), and whether it has begun to (`ending`).
#include <sys/types.h>

#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/base/json_fwd.hpp"
#include "viridian/cli/record/program.hpp"

namespace viridian::cli {

// Names the traces in `folder` and removes the files of facts. The only trace becomes torch.json.gz. Several
// become torch.rank0.json.gz, torch.rank1.json.gz, ..., by their ranks in a distributed training, or
// torch.process4711.json.gz if a process has no rank. Returns one object for each, in this order: `file`,
// `process`, `rank` and `local_rank` if it has them, and `modules`: how many calls of modules the trace holds
// and how many nanoseconds the timing of one call took. Adds to `warnings` a sentence for each rank, and
// for each process with a listener, that left no trace.
[[nodiscard]] Json collect_torch_traces(const Path& folder, std::vector<std::string>& warnings);

// Returns the processes with a file of facts in `folder`, the oldest first.
[[nodiscard]] std::vector<pid_t> torch_processes(const Path& folder);

// Returns those of them that write their trace when SIGTERM reaches them, or have begun to.
[[nodiscard]] std::vector<Listener> torch_listeners(const Path& folder);

// Returns the name of a process for people, "rank 0" or "process 4711", from one of these objects.
[[nodiscard]] std::string process_label(const Json& trace);

// Returns whether `name` is the name of a trace of PyTorch in a recording.
[[nodiscard]] bool is_torch_trace(std::string_view name);

// Removes the traces, the files of facts, and what killed processes left of either.
void remove_torch_traces(const Path& folder);

}  // namespace viridian::cli
