// A libnvidia-ml.so for tests: behaves as VIRIDIAN_FAKE_NVML says, a list of words
//   gpus=N  no_permission  no_fields  no_energy  no_power  mig  vanish=N (GPU 0 is lost after N reads)
// Energy grows by 1 J a read, average power is 200 W, instantaneous 250 W, both renewed each `period_us`.
#include <time.h>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string script;
unsigned long long reads = 0;

bool has(const char* word) { return script.find(word) != std::string::npos; }
unsigned long number(const char* word, unsigned long otherwise) {
    const std::size_t at = script.find(word);
    return at == std::string::npos ? otherwise
                                   : std::strtoul(script.c_str() + at + std::strlen(word), nullptr, 10);
}
long long now_us() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1'000'000LL + time.tv_nsec / 1000;
}
bool lost(void* gpu) { return gpu == reinterpret_cast<void*>(1) && ++reads > number("vanish=", ~0UL); }

struct FieldValue {
    unsigned field, scope;
    long long timestamp, latency;
    unsigned type;
    int status;
    union {
        unsigned number;
        unsigned long long wide;
    } value;
};

}  // namespace

extern "C" {
int nvmlInit_v2() {
    const char* words = std::getenv("VIRIDIAN_FAKE_NVML");
    script = words != nullptr ? words : "";
    reads = 0;
    return has("no_permission") ? 4 : 0;
}
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(number("gpus=", 1));
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
    *gpu = reinterpret_cast<void*>(static_cast<std::size_t>(index) + 1);
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* gpu, unsigned long long* millijoules) {
    static unsigned long long total = 5'000'000;
    if (lost(gpu)) return 15;
    if (has("no_energy")) return 3;
    *millijoules = total += 1000;
    return 0;
}
int nvmlDeviceGetPowerUsage(void* gpu, unsigned* milliwatts) {
    if (lost(gpu)) return 15;
    if (has("no_power")) return 3;
    *milliwatts = 240'000;
    return 0;
}
int nvmlDeviceGetFieldValues(void* gpu, int count, FieldValue* values) {
    for (int i = 0; i < count; ++i) {
        values[i].status = lost(gpu) ? 15 : has("no_fields") ? 3 : 0;
        const long long period = static_cast<long long>(number("period_us=", 100'000));
        values[i].timestamp = now_us() / period * period;
        values[i].type = 1;
        values[i].value.number = values[i].field == 185 ? 200'000 : 250'000;
    }
    return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
    *current = *pending = has("mig") ? 1 : 0;
    return 0;
}
const char* nvmlErrorString(int status) {
    return status == 15  ? "GPU is lost"
           : status == 4 ? "Insufficient Permissions"
           : status == 3 ? "Not Supported"
                         : "Unknown Error";
}
}
