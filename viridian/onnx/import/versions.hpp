#pragma once
// Decides which versions of ONNX a model may declare. An IR version newer than `newest_ir_version` is only
// noted if every field of the file is known, because IR versions add fields and element types and change
// none. A newer operator set is refused even if all of its operators have known names: a set may change what
// an operator means or add an attribute to it (set 28 added `mode` to SpaceToDepth), and the outputs would
// be wrong in silence.
#include "viridian/onnx/import/import.hpp"

namespace viridian::onnx {

// Compares the model's IR version with `newest_ir_version` and notes a newer one. `name` is the model's, for
// messages; `listener` may be null. Errors: unsupported if a newer model has a field that is not known.
[[nodiscard]] Result<void> check_ir_version(const ModelProto& model, std::string_view name,
                                            Listener* listener);

// Returns the operator sets that a model or a function imports. `name` is the model's. Errors: malformed
// for an impossible version, unsupported for a set of ai.onnx above `newest_opset`.
[[nodiscard]] Result<Opsets> check_opsets(
    const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports, std::string_view name);

// Adds to `context.unsupported` what operator set 28 newly allows and the operator's row does not compute:
// shifts of signed integers, and SpaceToDepth with another order of blocks. `graph` holds the node's inputs.
void check_newest_meaning(Context& context, const graph::Graph& graph, const graph::Node& node,
                          const NodeProto& proto);

}  // namespace viridian::onnx
