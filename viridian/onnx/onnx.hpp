#pragma once
// .onnx files ⇄ graphs (docs/onnx.md). Reading brings every operator set from 1 to `newest_opset` to the
// newest meaning; writing uses the oldest operator set from 17 on that can say what the graph says, so that
// today's runtimes read it.
#include <string_view>

#include "viridian/base/file.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::onnx {

inline constexpr int newest_opset = 27;
inline constexpr int newest_ir_version = 13;

struct LoadOptions {
    std::int64_t most_nodes = 250'000;  // after functions are inlined, whose size counts at every call
};

// A model file, its external data mapped from files in the same folder. Initialisers become constants,
// If/Loop/Scan bodies see explicit inputs, model functions are inlined, types are inferred by our own rules.
// Errors: file_not_found, file_unreadable, malformed, limit_exceeded, and unsupported, which lists every
// operator and type that we lack with its nodes.
[[nodiscard]] Result<graph::Graph> load(const Path& path, const LoadOptions& options = {});

// The same from memory; `name` is used in errors. External data is refused.
[[nodiscard]] Result<graph::Graph> parse(std::string_view bytes, std::string_view name,
                                         const LoadOptions& options = {});

struct SaveOptions {
    int opset = 17;                               // at least; higher where the graph needs it
    std::int64_t external_above = 1'500'000'000;  // total bytes of constants; then they go to `<file>.data`
    std::int64_t external_from = 1024;            // constants smaller than this stay in the file
};

// Errors: file_not_writable, disk_full, unsupported (something ONNX cannot say).
[[nodiscard]] Result<void> save(const graph::Graph& graph, const Path& path, const SaveOptions& options = {});

// The same into memory, without external data. Errors: limit_exceeded beyond 2 GB, unsupported.
[[nodiscard]] Result<std::string> serialize(const graph::Graph& graph, const SaveOptions& options = {});

}  // namespace viridian::onnx
