#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>

#include "viridian/onnx/import/import.hpp"
#include "viridian/onnx/import/versions.hpp"
#include "viridian/onnx/import/wire_budget.hpp"
#include "viridian/onnx/tensors/mapped_file.hpp"

namespace viridian::onnx {
namespace {

Result<graph::Graph> import_model(ModelProto& model, Context& context) {
    VIRIDIAN_TRY(check_ir_version(model, context.model, context.listener));
    VIRIDIAN_TRY(Opsets opsets, check_opsets(model.opset_import(), context.model));
    if (opsets.empty()) opsets[""] = 1;  // IR versions 1 and 2
    for (const FunctionProto& function : model.functions()) {
        const auto overload = newer_fields(function, 13);
        const auto size = static_cast<std::int64_t>(function.ByteSizeLong() / 64);
        const std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
        if (!context.functions
                 .emplace(FunctionKey{domain, function.name(), overload.empty() ? "" : overload[0]},
                          Context::Function{&function, size})
                 .second)
            return fail(ErrorCode::malformed, "export the model again", "function `{}` is defined twice",
                        function.name());
    }
    std::map<std::string, std::string, std::less<>> metadata;
    for (const auto& entry : model.metadata_props()) metadata[entry.key()] = entry.value();
    if (const auto states = metadata.find(states_key); states != metadata.end()) {
        VIRIDIAN_TRY(context.states, read_states(states->second));
        metadata.erase(states);
    }
    VIRIDIAN_TRY(graph::Graph graph, import_graph(context, *model.mutable_graph(), std::move(opsets)));
    VIRIDIAN_TRY(context.unsupported.result(context.model));
    graph.metadata = std::move(metadata);
    return graph;
}

// A mapped file from front to back. What was handed out before leaves memory again: its tensors have copies,
// and both together would be the peak of a program's memory.
class Passing final : public google::protobuf::io::ZeroCopyInputStream {
  public:
    explicit Passing(const MappedFile& file) : file_(file), array_(file.bytes().data(), size(file), piece) {}

    bool Next(const void** data, int* size) override {
        file_.drop(0, static_cast<std::size_t>(array_.ByteCount()));
        return array_.Next(data, size);
    }
    void BackUp(int count) override { array_.BackUp(count); }
    bool Skip(int count) override { return array_.Skip(count); }
    int64_t ByteCount() const override { return array_.ByteCount(); }

  private:
    static constexpr int piece = 4 << 20;
    static int size(const MappedFile& file) { return static_cast<int>(file.bytes().size()); }
    const MappedFile& file_;
    google::protobuf::io::ArrayInputStream array_;
};

bool parse_message(ModelProto& model, std::string_view bytes, const MappedFile* file) {
    if (file == nullptr) return model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    Passing stream(*file);
    return model.ParseFromZeroCopyStream(&stream);
}

}  // namespace

Result<graph::Graph> read_model(std::string_view bytes, std::string_view name, const LoadOptions& options,
                                Listener* listener, ExternalData external, const MappedFile* file) {
    constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (bytes.size() > limit)
        return fail(ErrorCode::limit_exceeded, "save its weights as external data",
                    "`{}` has {} bytes, a model file at most {}", name, bytes.size(), limit);
    VIRIDIAN_TRY(check_wire_budget(bytes, name));
    ModelProto model;
    const google::protobuf::LogSilencer quiet;
    if (!parse_message(model, bytes, file) || !model.has_graph())
        return fail(ErrorCode::malformed, "check that it is a whole .onnx file",
                    "`{}` is not a readable ONNX model", name);
    Context context;
    context.model = name;
    context.external = std::move(external);
    context.nodes_left = options.most_nodes;
    context.listener = listener;
    auto graph = import_model(model, context);
    if (!graph.ok() && graph.error().code != ErrorCode::unsupported)
        return std::move(graph).error().within(fmt::format("`{}`", name));
    return graph;
}

Result<graph::Graph> load(const Path& path, const LoadOptions& options, Listener* listener) {
    VIRIDIAN_TRY(const MappedFile file, MappedFile::open(path));
    const Path folder = path.has_parent_path() ? path.parent_path() : Path(".");
    return read_model(file.bytes(), path.string(), options, listener, ExternalData(folder), &file);
}

Result<Versions> versions_of(const Path& path) {
    VIRIDIAN_TRY(const MappedFile file, MappedFile::open(path));
    ModelProto model;
    const google::protobuf::LogSilencer quiet;
    VIRIDIAN_TRY(check_wire_budget(file.bytes(), path.string()));
    if (!parse_message(model, file.bytes(), &file))
        return fail(ErrorCode::malformed, "check that it is a whole .onnx file",
                    "`{}` is not a readable ONNX model", path.string());
    const Opsets opsets = opsets_of(model.opset_import());
    const auto own = opsets.find("");
    return Versions{.ir = static_cast<int>(model.ir_version()),
                    .opset = own == opsets.end() ? 1 : static_cast<int>(own->second)};
}

Result<graph::Graph> parse(std::string_view bytes, std::string_view name, const LoadOptions& options,
                           Listener* listener) {
    return read_model(bytes, name, options, listener, ExternalData(), nullptr);
}

}  // namespace viridian::onnx
