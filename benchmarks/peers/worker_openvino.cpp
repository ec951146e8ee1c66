// OpenVINO's C interface as a peer: inputs and outputs in memory of ours, bound once; one stream for the
// shortest time of one request, and f32 or bf16 as asked.
#include <openvino/c/openvino.h>

#include "worker.hpp"

namespace {

ov_core_t* core = nullptr;

void check(ov_status_e status, const char* what) {
    if (status == OK) return;
    const char* said = ov_get_last_err_msg();
    throw peers::wrong(std::string("OpenVINO: ") + what + ": " +
                       (said != nullptr && *said != '\0' ? said : ov_get_error_info(status)));
}

ov_element_type_e element_type(const std::string& type) {
    for (const auto& [name, value] : {std::pair{"<f4", F32},
                                      {"|u1", U8},
                                      {"|i1", I8},
                                      {"<i4", I32},
                                      {"<i8", I64},
                                      {"|b1", BOOLEAN},
                                      {"<f2", F16},
                                      {"<f8", F64}})
        if (type == name) return value;
    throw peers::wrong("no OpenVINO type for NumPy's " + type);
}

// Opens the processor's plug-in, which is a library of its own.
void load(const peers::Arguments&) {
    check(ov_core_create(&core), "create");
    ov_core_version_list_t versions{};
    check(ov_core_get_versions_by_device_name(core, "CPU", &versions), "open the CPU plug-in");
    ov_core_versions_free(&versions);
}

void bind(ov_infer_request_t* request, peers::Tensor& tensor) {
    ov_shape_t shape{};
    check(ov_shape_create(static_cast<std::int64_t>(tensor.dimensions.size()), tensor.dimensions.data(),
                          &shape),
          "shape");
    ov_tensor_t* bound = nullptr;
    check(ov_tensor_create_from_host_ptr(element_type(tensor.type), shape, tensor.bytes.data(), &bound),
          "tensor");
    check(ov_infer_request_set_tensor(request, tensor.name.c_str(), bound), tensor.name.c_str());
    ov_shape_free(&shape);
}

std::function<void()> prepare(peers::Arguments& arguments) {
    ov_compiled_model_t* model = nullptr;
    const std::string threads = std::to_string(arguments.threads);
    const char* pinned = arguments.processors.empty() ? "NO" : "YES";
    check(ov_core_compile_model_from_file(core, arguments.model.c_str(), "CPU", 10, &model,
                                          "INFERENCE_NUM_THREADS", threads.c_str(), "NUM_STREAMS", "1",
                                          "PERFORMANCE_HINT", "LATENCY", "INFERENCE_PRECISION_HINT",
                                          arguments.precision.c_str(), "ENABLE_CPU_PINNING", pinned),
          "compile");
    ov_infer_request_t* request = nullptr;
    check(ov_compiled_model_create_infer_request(model, &request), "request");
    for (peers::Tensor& tensor : arguments.inputs) bind(request, tensor);
    for (peers::Tensor& tensor : arguments.outputs) bind(request, tensor);
    return [request] { check(ov_infer_request_infer(request), "run"); };
}

}  // namespace

int main(int count, char** words) {
    if (count == 2 && std::string(words[1]) == "--version") {
        ov_version_t version{};
        check(ov_get_openvino_version(&version), "version");
        std::printf("%s\n", version.buildNumber);
        return 0;
    }
    return peers::serve(count, words, load, prepare);
}
