// fake_cuda_program FAKE_CUPTI KERNELS: does what a CUDA program does as far as `record --cupti` can see it.
// The driver loads the library that CUDA_INJECTION64_PATH names and starts it; then kernels run.
#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>

int main(int count, char** words) {
    if (count != 3) return 1;
    void* cupti = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    if (cupti == nullptr) return 2;
    if (const char* injected = std::getenv("CUDA_INJECTION64_PATH")) {
        void* library = dlopen(injected, RTLD_NOW);
        const auto start =
            library == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
        if (start == nullptr) return 3;
        if (start() == 0) return 4;
    }
    const auto launch = reinterpret_cast<void (*)(const char*, std::uint32_t, std::uint64_t)>(
        dlsym(cupti, "fake_cupti_launch"));
    if (launch == nullptr) return 5;
    const timespec pause{0, 2'000'000};
    for (long i = std::strtol(words[2], nullptr, 10); i > 0; --i) {
        nanosleep(&pause, nullptr);
        launch(i % 10 == 0 ? nullptr : "_Z4gemmPKfS0_Pfi", 7, 1'000'000);
    }
    return 0;
}
