// A libnvidia-ml.so for tests: behaves as VIRIDIAN_FAKE_NVML says, a list of words
//   gpus=N  no_permission  no_fields  no_energy  no_power  mig  module  memory
//   vanish=N (GPU 0 is lost after N reads)
//   samples=N (the driver's buffer of power holds N samples, one each 20 ms; 0 or absent: not supported)
// Without a load: energy grows by 1 J a read, average power is 200 W, instantaneous 250 W, both renewed each
// `period_us`. With `load=FILE` (fake_load.hpp) GPU 0 has meters like a real one's:
//   period_us=N (100000)     how often the power fields are renewed
//   lag_us=N (0)             they show what was that much before their stamp
//   window_us=N (1000000)    mean of the average field and of nvmlDeviceGetPowerUsage
//   instant_us=N (0)         mean of the instantaneous field (25000 with a period of 100000: 25 of 100 ms)
//   counter_us=N (20000)     how often the counter is renewed; counter_ppm=N: it runs that much fast
//   noise_mw=N (200)         of each reading, uniform
//   stamp_query              the stamp is the time of the question, not of the renewal
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "fake_load.hpp"

namespace {

std::mutex mutex;
std::string script;
unsigned long long reads = 0;
std::unique_ptr<FakeLoad> load;

bool has(const char* word) {
    return (" " + script + " ").find(" " + std::string(word) + " ") != std::string::npos;
}
std::size_t place(const char* word) {
    const std::size_t at = (" " + script).find(" " + std::string(word));
    return at == std::string::npos ? at : at + std::strlen(word);
}
long number(const char* word, long otherwise) {
    const std::size_t at = place(word);
    return at == std::string::npos ? otherwise : std::strtol(script.c_str() + at, nullptr, 10);
}
std::string text(const char* word) {
    const std::size_t at = place(word);
    return at == std::string::npos ? "" : script.substr(at, script.find(' ', at) - at);
}
std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}
bool lost(void* gpu) {
    return gpu == reinterpret_cast<void*>(1) &&
           ++reads > static_cast<unsigned long long>(number("vanish=", 1L << 60));
}
bool loaded(void* gpu) { return load && gpu == reinterpret_cast<void*>(1); }

// The renewal at or before now, off the whole second so that nobody relies on it.
std::int64_t renewed(std::int64_t now, std::int64_t period) {
    const std::int64_t phase = load ? 7'310'000 : 0;
    return (now - phase) / period * period + phase;
}
double noise(std::int64_t seed) {
    std::uint64_t x = static_cast<std::uint64_t>(seed) * 0x9E3779B97F4A7C15ULL;
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 29;
    return static_cast<double>(x % 2001) * 1e-3 - 1.0;
}
unsigned milliwatts(std::int64_t renewal, std::int64_t window) {
    const std::int64_t end = renewal - number("lag_us=", 0) * 1000;
    const double watts = load->mean(end - window, end);
    const double value =
        watts * 1e3 + static_cast<double>(number("noise_mw=", 200)) * noise(renewal + window);
    return value > 0.0 ? static_cast<unsigned>(value + 0.5) : 0U;
}
std::int64_t power_renewal() { return renewed(now_ns(), number("period_us=", 100'000) * 1000); }

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

struct BufferSample {
    unsigned long long timestamp;
    union {
        double real;
        unsigned number;
        unsigned long long wide;
    } value;
};

unsigned long long counter_millijoules() {
    const std::int64_t at = renewed(now_ns(), number("counter_us=", 20'000) * 1000);
    const double fast = 1.0 + 1e-6 * static_cast<double>(number("counter_ppm=", 0));
    const double joules = load->joules(at - number("lag_us=", 0) * 1000) * fast;
    return 5'000'000ULL + static_cast<unsigned long long>(joules > 0.0 ? joules * 1e3 : 0.0);
}

void copy_text(const char* from, char* to, unsigned length) {
    std::strncpy(to, from, length - 1);
    to[length - 1] = '\0';
}

}  // namespace

extern "C" {
int nvmlInit_v2() {
    const std::lock_guard lock(mutex);
    const char* words = std::getenv("VIRIDIAN_FAKE_NVML");
    script = words != nullptr ? words : "";
    reads = 0;
    const std::string file = text("load=");
    load = file.empty() ? nullptr : std::make_unique<FakeLoad>(file);
    return has("no_permission") ? 4 : 0;
}
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* buffer, unsigned length) {
    copy_text("0.0 (scripted)", buffer, length);
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(number("gpus=", 1));
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
    *gpu = reinterpret_cast<void*>(static_cast<std::size_t>(index) + 1);
    return 0;
}
int nvmlDeviceGetName(void*, char* buffer, unsigned length) {
    copy_text("Simulated GPU", buffer, length);
    return 0;
}
int nvmlDeviceGetUUID(void* gpu, char* buffer, unsigned length) {
    const std::string uuid =
        "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(reinterpret_cast<std::size_t>(gpu) - 1);
    copy_text(uuid.c_str(), buffer, length);
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* gpu, unsigned long long* millijoules) {
    const std::lock_guard lock(mutex);
    static unsigned long long total = 5'000'000;
    if (lost(gpu)) return 15;
    if (has("no_energy")) return 3;
    *millijoules = loaded(gpu) ? counter_millijoules() : total += 1000;
    return 0;
}
int nvmlDeviceGetPowerUsage(void* gpu, unsigned* watts) {
    const std::lock_guard lock(mutex);
    if (lost(gpu)) return 15;
    if (has("no_power")) return 3;
    *watts = loaded(gpu) ? milliwatts(power_renewal(), number("window_us=", 1'000'000) * 1000) : 240'000U;
    return 0;
}
int nvmlDeviceGetFieldValues(void* gpu, int count, FieldValue* values) {
    const std::lock_guard lock(mutex);
    for (int i = 0; i < count; ++i) {
        FieldValue& value = values[i];
        const bool scoped =
            value.scope == 0 || (value.scope == 1 && has("module")) || (value.scope == 2 && has("memory"));
        const bool known =
            value.field == 185 || value.field == 186 || (value.field == 191 && !has("no_energy"));
        value.status = lost(gpu) ? 15 : has("no_fields") || !scoped || !known ? 3 : 0;
        if (value.status != 0) continue;
        const std::int64_t renewal = power_renewal();
        const bool average = value.field == 185;
        value.timestamp = (has("stamp_query") ? now_ns() : renewal) / 1000;
        value.latency = 0;
        value.type = value.field == 191 ? 3 : 1;
        if (value.field == 191)
            value.value.wide = loaded(gpu) ? counter_millijoules() : reads * 1000;
        else if (loaded(gpu))
            value.value.number = milliwatts(
                renewal, 1000 * (average ? number("window_us=", 1'000'000) : number("instant_us=", 0)));
        else
            value.value.number = average ? 200'000 : 250'000;
    }
    return 0;
}
// The buffer's sample of each 20 ms says 230 W and the number of the sample, modulo 1000, in milliwatts.
int nvmlDeviceGetSamples(void* gpu, int kind, unsigned long long last, unsigned* type, unsigned* count,
                         BufferSample* samples) {
    const std::lock_guard lock(mutex);
    if (lost(gpu)) return 15;
    const auto held = static_cast<unsigned long long>(number("samples=", 0));
    if (held == 0 || kind != 0) return 3;
    if (samples == nullptr) {
        *count = static_cast<unsigned>(held);
        return 0;
    }
    const unsigned long long newest = static_cast<unsigned long long>(now_ns()) / 20'000'000;
    const unsigned long long first = std::max(newest - held + 1, last / 20'000 + 1);
    if (first > newest) return 6;
    if (*count < newest - first + 1) return 7;
    *count = static_cast<unsigned>(newest - first + 1);
    *type = 1;
    for (unsigned long long i = first; i <= newest; ++i, ++samples) {
        samples->timestamp = i * 20'000;
        samples->value.number = 230'000U + static_cast<unsigned>(i % 1000);
    }
    return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
    *current = *pending = has("mig") ? 1 : 0;
    return 0;
}
// Watts cost clock and give warmth, of a load from 300 W on and at any.
int nvmlDeviceGetClockInfo(void* gpu, unsigned kind, unsigned* megahertz) {
    const std::lock_guard lock(mutex);
    const double watts = loaded(gpu) ? load->mean(now_ns() - 500'000'000, now_ns()) : 200.0;
    *megahertz = kind == 2 ? 2619U : 1980U - (watts > 300.0 ? static_cast<unsigned>(watts - 300.0) : 0U);
    return 0;
}
int nvmlDeviceGetTemperature(void* gpu, unsigned, unsigned* celsius) {
    const std::lock_guard lock(mutex);
    *celsius =
        30U + static_cast<unsigned>(loaded(gpu) ? load->mean(now_ns() - 500'000'000, now_ns()) / 20.0 : 10.0);
    return 0;
}
const char* nvmlErrorString(int status) {
    return status == 15  ? "GPU is lost"
           : status == 4 ? "Insufficient Permissions"
           : status == 3 ? "Not Supported"
                         : "Unknown Error";
}
}
