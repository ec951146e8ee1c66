// ONNX Runtime's C interface as a peer: inputs and outputs in memory of ours, bound once; its default options
// except for the number of threads.
#include <dlfcn.h>

#include "worker.hpp"

namespace {

struct Base {
    const void* const* (*get_table)(std::uint32_t version);
    const char* (*get_version)();
};

// The wheel brings the library without its header. The interface is a table of functions whose order ONNX
// Runtime promises to keep (onnxruntime_c_api.cc asserts the size of every version of the table); these are
// the places of the ones used here. The last is of version 5.
enum Place {
    get_error_message = 2,
    create_env = 3,
    create_session = 7,
    run_session = 9,
    create_session_options = 10,
    set_intra_op_threads = 24,
    set_inter_op_threads = 25,
    create_tensor_with_data = 49,
    create_cpu_memory_info = 69,
    add_session_config_entry = 130,
};
constexpr std::uint32_t table_version = 5;

using Status = void*;  // null: success
const void* const* table = nullptr;
void* environment = nullptr;

template <typename... Parameters>
void call(Place place, Parameters... parameters) {
    const Status status =
        reinterpret_cast<Status (*)(Parameters...)>(const_cast<void*>(table[place]))(parameters...);
    if (status == nullptr) return;
    const auto message =
        reinterpret_cast<const char* (*)(Status)>(const_cast<void*>(table[get_error_message]));
    throw peers::wrong(std::string("ONNX Runtime: ") + message(status));
}

int element_type(const std::string& type) {
    for (const auto& [name, number] : {std::pair{"<f4", 1},
                                       {"|u1", 2},
                                       {"|i1", 3},
                                       {"<i4", 6},
                                       {"<i8", 7},
                                       {"|b1", 9},
                                       {"<f2", 10},
                                       {"<f8", 11}})
        if (type == name) return number;
    throw peers::wrong("no ONNX Runtime type for NumPy's " + type);
}

// The library lies in the wheel, at a path that the harness compiles in.
const Base* base() {
    void* library = ::dlopen(ONNXRUNTIME_LIBRARY, RTLD_NOW);
    void* found = library == nullptr ? nullptr : ::dlsym(library, "OrtGetApiBase");
    if (found == nullptr) throw peers::wrong(std::string("cannot open ") + ONNXRUNTIME_LIBRARY);
    return reinterpret_cast<const Base* (*)()>(found)();
}

void load(const peers::Arguments&) {
    table = base()->get_table(table_version);
    if (table == nullptr) throw peers::wrong("this ONNX Runtime does not know version 5 of its interface");
    constexpr int errors_only = 3;
    call(create_env, errors_only, "peers", &environment);
}

std::function<void()> prepare(peers::Arguments& arguments) {
    void *options = nullptr, *session = nullptr, *memory = nullptr;
    call(create_session_options, &options);
    call(set_intra_op_threads, options, arguments.threads);
    call(set_inter_op_threads, options, 1);
    if (arguments.processors.size() > 1) {  // of the threads besides the caller, counted from 1
        std::string places;
        for (std::size_t i = 1; i < arguments.processors.size(); ++i)
            places += (i > 1 ? ";" : "") + std::to_string(arguments.processors[i] + 1);
        call(add_session_config_entry, options, "session.intra_op_thread_affinities", places.c_str());
    }
    call(create_session, environment, arguments.model.c_str(), options, &session);
    constexpr int arena_allocator = 1, default_memory = 0;
    call(create_cpu_memory_info, arena_allocator, default_memory, &memory);
    const auto bound = [&](std::vector<peers::Tensor>& tensors) {
        std::vector<void*> values;
        for (peers::Tensor& tensor : tensors) {
            void* value = nullptr;
            call(create_tensor_with_data, memory, static_cast<void*>(tensor.bytes.data()),
                 tensor.bytes.size(), static_cast<const std::int64_t*>(tensor.dimensions.data()),
                 tensor.dimensions.size(), element_type(tensor.type), &value);
            values.push_back(value);
        }
        return values;
    };
    const auto names = [](const std::vector<peers::Tensor>& tensors) {
        std::vector<const char*> list;
        for (const peers::Tensor& tensor : tensors) list.push_back(tensor.name.c_str());
        return list;
    };
    if (!arguments.processors.empty()) peers::pin(arguments.processors[0]);
    return [session, inputs = bound(arguments.inputs), outputs = bound(arguments.outputs),
            input_names = names(arguments.inputs), output_names = names(arguments.outputs)]() mutable {
        call(run_session, session, static_cast<const void*>(nullptr),
             static_cast<const char* const*>(input_names.data()),
             static_cast<const void* const*>(inputs.data()), inputs.size(),
             static_cast<const char* const*>(output_names.data()), output_names.size(), outputs.data());
    };
}

}  // namespace

int main(int count, char** words) {
    if (count == 2 && std::string(words[1]) == "--version") {
        std::printf("%s\n", base()->get_version());
        return 0;
    }
    return peers::serve(count, words, load, prepare);
}
