#include "viridian/onnx/export/export.hpp"
#include "viridian/onnx/import/import.hpp"

namespace viridian::onnx {
namespace {

// Keeps constants beside the message, so that writing and reading copies none of them.
class KeptConstants final : public ConstantSink {
  public:
    std::vector<graph::Tensor> tensors;

    Result<bool> take(const graph::Tensor& tensor, TensorProto& proto) override {
        proto.set_data_type(onnx_type(tensor.type()));
        for (const std::int64_t dimension : tensor.dims()) proto.add_dims(dimension);
        proto.set_data_location(TensorProto::EXTERNAL);
        const auto entry = [&](const char* key, const std::string& value) {
            auto& pair = *proto.add_external_data();
            pair.set_key(key);
            pair.set_value(value);
        };
        entry("location", std::string(ExternalData::in_memory));
        entry("offset", fmt::format("{}", tensors.size()));
        tensors.push_back(tensor);
        return true;
    }
};

}  // namespace

Result<graph::Graph> as_written(const graph::Graph& graph, const SaveOptions& options) {
    KeptConstants kept;
    VIRIDIAN_TRY(const std::string bytes, serialize_with(graph, options, &kept));
    return read_model(bytes, "the model as it is written", {}, nullptr, ExternalData(std::move(kept.tensors)),
                      nullptr);
}

}  // namespace viridian::onnx
