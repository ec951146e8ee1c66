// A libcupti.so for tests. What was launched (fake_cupti_launch) comes back as records of CUPTI 13 through
// the registered callbacks, whenever a buffer is full and when flushed. VIRIDIAN_FAKE_CUPTI is a list of
// words:
//   old            no clock callback: stamps are of a clock of its own, 123456789 ns behind Unix time
//   refuse         enabling a kind fails, as without a driver
//   denied         the same, for want of privileges
//   drop=N         says that N records were dropped
//   small          buffers are used for two records only
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

// As in cupti_activity.h of CUDA 13.0, up to what is used; the sizes are the real ones.
struct Kernel {
    std::uint32_t kind;
    std::uint8_t bytes[4];
    std::uint32_t partitioned[2];
    std::uint64_t start, end, completed;
    std::uint32_t device, context, stream;
    std::int32_t grid[3], block[3], memory[2];
    std::uint32_t local[2], correlation;
    std::int64_t grid_id;
    const char* name;
    char rest[216 - 112];
};
static_assert(sizeof(Kernel) == 216);
struct Copy {
    std::uint32_t kind;
    std::uint8_t copy_kind, rest[3];
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation;
    char more[96 - 48];
};
static_assert(sizeof(Copy) == 96);

using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

Request request = nullptr;
Complete complete = nullptr;
std::uint64_t (*own_clock)() = nullptr;
std::vector<std::string> pending;  // bytes of records
constexpr std::uint64_t behind = 123'456'789;

bool has(const char* word) {
    const char* script = std::getenv("VIRIDIAN_FAKE_CUPTI");
    return script != nullptr && std::strstr(script, word) != nullptr;
}
std::uint64_t now() {
    if (own_clock != nullptr) return own_clock();
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec) - behind;
}

void deliver() {
    while (!pending.empty()) {
        std::uint8_t* buffer = nullptr;
        std::size_t size = 0, most = 0, used = 0, taken = 0;
        request(&buffer, &size, &most);
        if (buffer == nullptr) return;
        while (taken < pending.size() && used + pending[taken].size() <= size &&
               !(has("small") && taken == 2)) {
            std::memcpy(buffer + used, pending[taken].data(), pending[taken].size());
            used += pending[taken++].size();
        }
        pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(taken));
        complete(nullptr, 0, buffer, size, used);
    }
}

}  // namespace

extern "C" {
int cuptiActivityRegisterCallbacks(Request first, Complete second) {
    request = first;
    complete = second;
    return 0;
}
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
    if (has("old")) return 1;
    own_clock = clock;
    return 0;
}
int cuptiGetTimestamp(std::uint64_t* time) {
    *time = now();
    return 0;
}
int cuptiGetVersion(std::uint32_t* version) {
    *version = has("old") ? 12 : 130001;
    return 0;
}
int cuptiActivityEnable(std::uint32_t) { return has("refuse") ? 15 : has("denied") ? 35 : 0; }
int cuptiActivityDisable(std::uint32_t) { return 0; }
int cuptiActivityFlushAll(std::uint32_t) {
    if (complete != nullptr) deliver();
    return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, void** record) {
    auto* at = static_cast<std::uint8_t*>(*record);
    if (at == nullptr) {
        at = buffer;
    } else {
        std::uint32_t kind = 0;
        std::memcpy(&kind, at, 4);
        at += kind == 10 ? sizeof(Kernel) : sizeof(Copy);
    }
    if (at >= buffer + valid) return 3;  // CUPTI_ERROR_MAX_LIMIT_REACHED
    *record = at;
    return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
    *dropped = has("drop=3") ? 3 : 0;
    return 0;
}
int cuptiGetResultString(int status, const char** text) {
    *text = status == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_NOT_INITIALIZED";
    return 0;
}

// A kernel that has just run for `length` ns; with a null name a copy to the host.
void fake_cupti_launch(const char* name, std::uint32_t stream, std::uint64_t length) {
    const std::uint64_t end = now();
    if (name != nullptr) {
        Kernel kernel{};
        kernel.kind = 10;
        kernel.start = end - length;
        kernel.end = end;
        kernel.stream = stream;
        kernel.grid[0] = 4, kernel.grid[1] = 2, kernel.grid[2] = 1;
        kernel.correlation = 17;
        kernel.name = name;
        pending.emplace_back(reinterpret_cast<const char*>(&kernel), sizeof kernel);
    } else {
        Copy copy{};
        copy.kind = 1;
        copy.copy_kind = 2;
        copy.bytes = 4096;
        copy.start = end - length;
        copy.end = end;
        copy.stream = stream;
        pending.emplace_back(reinterpret_cast<const char*>(&copy), sizeof copy);
    }
}
}
