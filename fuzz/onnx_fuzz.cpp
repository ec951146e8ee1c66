// rooms: onnx graph
// Any bytes: read as a model and as a TensorProto; what reads well is written and read again.
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    (void)onnx::parse_tensor_proto(bytes, "fuzz");
    const auto graph = onnx::parse(bytes, "fuzz", {.most_nodes = 2000});
    if (!graph.ok()) return 0;
    const auto written = onnx::serialize(*graph);
    if (!written.ok()) return 0;
    if (!onnx::parse(*written, "again").ok()) (void)graph::structural_hash(*graph);
    return 0;
}
