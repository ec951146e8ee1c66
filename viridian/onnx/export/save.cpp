
#include <limits>

#include "viridian/onnx/export/downgrade.hpp"
#include "viridian/onnx/export/export.hpp"
#include "viridian/onnx/export/external_file.hpp"

namespace viridian::onnx {
namespace {

void add_model_metadata(const std::string& key, const std::string& value, ModelProto& out) {
    auto& entry = *out.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
}

}  // namespace

Result<std::string> serialize_with(const graph::Graph& graph, const SaveOptions& options,
                                   ConstantSink* sink) {
    if (options.opset < oldest_written_opset || options.opset > newest_written_opset)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("choose one from {} to {}", oldest_written_opset, newest_written_opset),
                    "operator set {} is not one that is written", options.opset);
    Exporter exporter;
    exporter.opset = opset_for(graph, options.opset);
    exporter.sink = sink;
    ModelProto model;
    model.set_producer_name("viridian");
    model.set_ir_version(ir_version_of(exporter.opset));
    VIRIDIAN_TRY(const std::string states, export_main(exporter, graph, *model.mutable_graph()));
    if (!states.empty()) add_model_metadata(std::string(states_key), states, model);
    for (const auto& [key, value] : graph.metadata)
        if (key != states_key) add_model_metadata(key, value, model);
    for (FunctionProto& function : exporter.functions->written) *model.add_functions() = std::move(function);
    exporter.domains.insert("");
    for (const std::string& domain : exporter.domains) {
        auto& import = *model.add_opset_import();
        import.set_domain(domain);
        import.set_version(domain.empty() ? exporter.opset : 1);
    }
    if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        return fail(ErrorCode::limit_exceeded, "save it to a file with external data",
                    "the model is larger than 2 GB");
    return model.SerializeAsString();
}

namespace {

std::int64_t constant_bytes(const graph::Graph& graph) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < graph.value_count(); ++i)
        if (const graph::Tensor* constant = graph.constant(static_cast<graph::ValueId>(i)))
            sum += constant->byte_count();
    for (const graph::State& state : graph.states())
        if (const graph::Tensor* first = graph.first_value(state.before)) sum += first->byte_count();
    for (const graph::NodeId id : graph.nodes())
        for (const auto& body : graph.node(id).bodies) sum += constant_bytes(*body);
    return sum;
}

}  // namespace

Result<void> save(const graph::Graph& graph, const Path& path, const SaveOptions& options) {
    if (constant_bytes(graph) <= options.external_above) {
        VIRIDIAN_TRY(const std::string bytes, serialize_with(graph, options, nullptr));
        return write_file(path, bytes);
    }
    VIRIDIAN_TRY(ExternalFile file, ExternalFile::create(path.string() + ".data", options.external_from));
    VIRIDIAN_TRY(const std::string bytes, serialize_with(graph, options, &file));
    VIRIDIAN_TRY(file.finish());
    return write_file(path, bytes);
}

Result<std::string> serialize(const graph::Graph& graph, const SaveOptions& options) {
    return serialize_with(graph, options, nullptr);
}

}  // namespace viridian::onnx
