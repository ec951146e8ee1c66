#pragma once
// Reads .onnx files into graphs and writes graphs as .onnx files (docs/onnx.md). Reading brings every
// operator set from 1 to `newest_opset` to the newest meaning of its operators. Writing uses the oldest
// operator set from 17 on that can express the graph, so that most runtimes can read the file.
#include <string_view>

#include "viridian/base/file.hpp"
#include "viridian/base/listener.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::onnx {

inline constexpr int newest_opset = 28;          // the newest that is read, of ONNX 1.23
inline constexpr int newest_written_opset = 27;  // the newest that `save` can be asked for
inline constexpr int newest_ir_version = 14;     // the newest whose fields are known

// LoadOptions limit what is read.
struct LoadOptions {
    // `most_nodes` is the largest number of nodes that a model may have after its functions are inlined; a
    // function counts at every call.
    std::int64_t most_nodes = 250'000;
};

// Reads the model file `path`. External data is mapped from files in the same folder. Initialisers become
// constants, the bodies of If, Loop and Scan get explicit inputs, model functions are inlined, and types are
// inferred by our own rules. `listener` may be null; it is told if the file's IR version is newer than
// `newest_ir_version`. Errors: file_not_found, file_unreadable, malformed, limit_exceeded, and unsupported,
// which lists every operator and element type that is not implemented, with its nodes.
[[nodiscard]] Result<graph::Graph> load(const Path& path, const LoadOptions& options = {},
                                        Listener* listener = nullptr);

// Reads a model from the bytes of a file. `name` stands for the path in errors. Errors: those of `load`, and
// unsupported for external data.
[[nodiscard]] Result<graph::Graph> parse(std::string_view bytes, std::string_view name,
                                         const LoadOptions& options = {}, Listener* listener = nullptr);

// Versions are those that a file says it is written in.
struct Versions {
    int ir = 0;
    int opset = 1;  // the operator set of ONNX's own operators
};
// Reads the versions of the model file `path`. Errors: file_not_found, file_unreadable, malformed.
[[nodiscard]] Result<Versions> versions_of(const Path& path);

// SaveOptions say how a model is written.
struct SaveOptions {
    int opset = 17;  // the oldest operator set to use; a newer one is used if the graph needs it
    // If all constants together have more bytes than `external_above`, they go to `<file>.data`, except
    // those that have fewer bytes than `external_from`.
    std::int64_t external_above = 1'500'000'000;
    std::int64_t external_from = 1024;
};

// Writes `graph` to the file `path`. Errors: invalid_argument for an operator set that is not written,
// file_not_writable, disk_full, unsupported for what ONNX cannot express.
[[nodiscard]] Result<void> save(const graph::Graph& graph, const Path& path, const SaveOptions& options = {});

// Returns the bytes of the file without external data. Errors: those of `save`, and limit_exceeded beyond 2
// GB.
[[nodiscard]] Result<std::string> serialize(const graph::Graph& graph, const SaveOptions& options = {});

// Returns the graph that `load` reads from the file that `save` makes of `graph`. If the operator set of
// the file lacks an operator, others replace it, and nodes and values have the names that the file gives
// them. Applied to its own result, it changes nothing. Constants are shared with `graph`. Errors: those of
// `serialize` and `parse`.
[[nodiscard]] Result<graph::Graph> as_written(const graph::Graph& graph, const SaveOptions& options = {});

}  // namespace viridian::onnx
