// libviridian_cupti.so: loaded by the CUDA driver into any program (CUDA_INJECTION64_PATH), where it writes
// the GPU's work into the file that VIRIDIAN_CUPTI_TRACE names, as rows of PyTorch's profiler. Rows are
// written as they come: of a program that dies, what was written is a trace. `viridian record --cupti` packs
// it. Needs the C library and libgcc alone; says nothing unless asked (VIRIDIAN_CUPTI_VERBOSE).
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "viridian/trace/record/cupti_name.hpp"

namespace {

using namespace viridian::trace;

std::FILE* file = nullptr;
pid_t owner = 0;
pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out;
}

void take(void*, const cupti::Activity& work) {
    const char* category = work.kind == cupti::kernel_kind ? "kernel"
                           : work.kind == cupti::copy_kind ? "gpu_memcpy"
                                                           : "gpu_memset";
    const auto start = static_cast<long long>(work.start_ns),
               length = static_cast<long long>(work.end_ns) - start;
    std::fprintf(file,
                 R"(,{"ph":"X","cat":"%s","name":"%s","pid":%u,"tid":%u,"ts":%lld.%03lld,"dur":%lld.%03lld,)"
                 R"("args":{"device":%u,"stream":%u,"correlation":%u}})"
                 "\n",
                 category, escaped(cupti::name_of(work)).c_str(), work.device, work.stream, start / 1000,
                 start % 1000, length / 1000, length % 1000, work.device, work.stream, work.correlation);
}

void finish() {
    if (getpid() != owner) return;  // a forked child inherits this handler
    pthread_mutex_lock(&ending);
    if (file == nullptr) {
        pthread_mutex_unlock(&ending);
        return;
    }
    const unsigned long long lost = cupti::stop();
    std::fprintf(file, "],\"viridianLost\":%llu}\n", lost);
    std::fclose(file);
    file = nullptr;
    pthread_mutex_unlock(&ending);
}

// A signal that ends the program would leave no time to ask CUPTI for the rest: `record --seconds` makes this
// file before it sends one.
void* watch(void* path) {
    while (access(static_cast<const char*>(path), F_OK) != 0) usleep(20'000);
    finish();
    return nullptr;
}

}  // namespace

// The driver calls this once, when the program first uses CUDA.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    const char* path = std::getenv("VIRIDIAN_CUPTI_TRACE");
    const char* library = std::getenv("VIRIDIAN_CUPTI");
    if (path == nullptr || file != nullptr) return 1;
    // Several processes of one run: each its own file.
    owner = getpid();
    const std::string name = std::string(path) + "." + std::to_string(owner);
    file = std::fopen(name.c_str(), "we");
    if (file == nullptr) return 1;
    std::setvbuf(file, nullptr, _IOFBF, std::size_t{1} << 20);
    std::fputs("{\"schemaVersion\":1,\"traceEvents\":[{}\n", file);
    const std::string wrong = cupti::start(library != nullptr ? library : "", take, nullptr);
    if (!wrong.empty()) {
        std::fprintf(file, "],\"viridianError\":\"%s\"}\n", escaped(wrong).c_str());
        std::fclose(file);
        file = nullptr;
        if (std::getenv("VIRIDIAN_CUPTI_VERBOSE") != nullptr)
            std::fprintf(stderr, "viridian: kernels are not recorded: %s\n", wrong.c_str());
        return 1;
    }
    std::atexit(finish);
    if (const char* stop = std::getenv("VIRIDIAN_CUPTI_STOP"); stop != nullptr) {
        pthread_t watcher{};  // keeps its own copy: the program may change its environment
        if (pthread_create(&watcher, nullptr, watch, strdup(stop)) == 0) pthread_detach(watcher);
    }
    return 1;  // 0 would end the program
}
