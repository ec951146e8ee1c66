#include "viridian/trace/record/cupti_api.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <ctime>
#include <mutex>

namespace viridian::trace::cupti {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t buffer_alignment = 64;

using Request = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using Complete = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                          std::size_t valid);

struct Functions {
    void* handle = nullptr;
    int (*callbacks)(Request, Complete) = nullptr;
    int (*enable)(std::uint32_t) = nullptr;
    int (*disable)(std::uint32_t) = nullptr;
    int (*flush)(std::uint32_t) = nullptr;
    int (*next)(std::uint8_t*, std::size_t, void**) = nullptr;
    int (*dropped)(void*, std::uint32_t, std::size_t*) = nullptr;
    int (*timestamp)(std::uint64_t*) = nullptr;
    int (*clock)(std::uint64_t (*)()) = nullptr;  // CUDA 11.6 and later
    int (*text)(int, const char**) = nullptr;
    int (*version)(std::uint32_t*) = nullptr;
};

// The state that C callbacks without a context leave no other place for.
struct State {
    std::mutex mutex;
    Functions functions;
    Take take = nullptr;
    void* context = nullptr;
    std::uint64_t lost = 0;
    int status = 0;             // why the last start failed, where CUPTI said it
    bool own_clock = false;     // CUPTI stamps with our clock
    std::int64_t ahead_ns = 0;  // else: Unix time less CUPTI's
};
State& state() {
    static State one;
    return one;
}

std::uint64_t unix_now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
    *size = *buffer != nullptr ? buffer_bytes : 0;
    *most_records = 0;  // as many as fit
}

void report(const State& s, const void* record) {
    const std::uint32_t kind = *static_cast<const std::uint32_t*>(record);
    Activity work{};
    work.kind = kind;
    std::uint64_t start = 0, end = 0;
    const auto common = [&](const auto& one) {
        start = one.start;
        end = one.end;
        work.device = one.device;
        work.stream = one.stream;
        work.correlation = one.correlation;
    };
    if (kind == kernel_kind) {
        const auto& kernel = *static_cast<const KernelRecord*>(record);
        common(kernel);
        for (int i = 0; i < 3; ++i) work.grid[i] = kernel.grid[i];
        work.name = kernel.name;
    } else if (kind == copy_kind) {
        const auto& copy = *static_cast<const CopyRecord*>(record);
        common(copy);
        work.bytes = copy.bytes;
        work.direction = copy.copy_kind;
    } else if (kind == fill_kind) {
        const auto& fill = *static_cast<const FillRecord*>(record);
        common(fill);
        work.bytes = fill.bytes;
    } else {
        return;
    }
    if (start == 0 || end < start) return;  // documented: 0 where the times could not be had
    work.start_ns = static_cast<std::int64_t>(start) + s.ahead_ns;
    work.end_ns = static_cast<std::int64_t>(end) + s.ahead_ns;
    s.take(s.context, work);
}

void complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    State& s = state();
    {
        const std::lock_guard lock(s.mutex);
        void* record = nullptr;
        while (valid > 0 && s.take != nullptr && s.functions.next(buffer, valid, &record) == 0)
            report(s, record);
        std::size_t lost = 0;
        if (s.functions.dropped != nullptr && s.functions.dropped(context, stream, &lost) == 0)
            s.lost += lost;
    }
    std::free(buffer);
}

void* open(const std::string& library) {
    if (!library.empty()) return ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    // PyTorch's own comes first: one that is loaded already must be the one that is used.
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"})
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD); handle != nullptr) return handle;
    for (const char* name :
         {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
          "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"})
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
    return nullptr;
}

template <class Function>
bool find(void* handle, Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(::dlsym(handle, symbol));
    return function != nullptr;
}

std::string words(const Functions& f, int status) {
    const char* text = nullptr;
    if (f.text != nullptr && f.text(status, &text) == 0 && text != nullptr) return text;
    return "CUPTI error " + std::to_string(status);
}

// Unix time less CUPTI's, from the closest of a few pairs.
std::int64_t clock_difference(const Functions& f) {
    std::int64_t best = 0;
    std::uint64_t width = ~std::uint64_t{0};
    for (int i = 0; i < 16; ++i) {
        std::uint64_t theirs = 0;
        const std::uint64_t before = unix_now();
        if (f.timestamp == nullptr || f.timestamp(&theirs) != 0) return 0;
        const std::uint64_t after = unix_now();
        if (after - before >= width) continue;
        width = after - before;
        best = static_cast<std::int64_t>(before + width / 2 - theirs);
    }
    return best;
}

}  // namespace

std::string start(const std::string& library, Take take, void* context) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.status = 0;
    if (s.take != nullptr) return "kernels are being recorded already";
    s.functions = {};
    Functions& f = s.functions;
    f.handle = open(library);
    if (f.handle == nullptr) return "there is no libcupti here";
    find(f.handle, f.version, "cuptiGetVersion");
    const bool whole = find(f.handle, f.callbacks, "cuptiActivityRegisterCallbacks") &&
                       find(f.handle, f.enable, "cuptiActivityEnable") &&
                       find(f.handle, f.disable, "cuptiActivityDisable") &&
                       find(f.handle, f.flush, "cuptiActivityFlushAll") &&
                       find(f.handle, f.next, "cuptiActivityGetNextRecord");
    if (!whole) return "the libcupti here is too old";
    find(f.handle, f.dropped, "cuptiActivityGetNumDroppedRecords");
    find(f.handle, f.timestamp, "cuptiGetTimestamp");
    find(f.handle, f.clock, "cuptiActivityRegisterTimestampCallback");
    find(f.handle, f.text, "cuptiGetResultString");
    s.own_clock = f.clock != nullptr && f.clock(unix_now) == 0;
    s.ahead_ns = s.own_clock ? 0 : clock_difference(f);
    s.lost = 0;
    s.take = take;
    s.context = context;
    int status = f.callbacks(request, complete);
    for (const std::uint32_t kind : {kernel_kind, copy_kind, fill_kind})
        if (status == 0) status = f.enable(kind);
    if (status == 0) return "";
    s.take = nullptr;
    s.status = status;
    return words(f, status);
}

std::uint64_t stop() {
    State& s = state();
    {
        const std::lock_guard lock(s.mutex);
        if (s.take == nullptr) return 0;
    }
    constexpr std::uint32_t forced = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
    (void)s.functions.flush(forced);     // calls `complete`, which locks
    for (const std::uint32_t kind : {kernel_kind, copy_kind, fill_kind}) (void)s.functions.disable(kind);
    const std::lock_guard lock(s.mutex);
    s.take = nullptr;
    return s.lost;
}

Probe probe(const std::string& library) {
    Probe out;
    out.wrong = start(library, [](void*, const Activity&) {}, nullptr);
    if (out.wrong.empty()) (void)stop();
    State& s = state();
    const std::lock_guard lock(s.mutex);
    out.status = s.status;
    link_map* map = nullptr;
    if (s.functions.handle != nullptr &&
        ::dlinfo(s.functions.handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0)
        out.path = map->l_name;
    if (s.functions.version != nullptr && s.functions.version(&out.version) != 0) out.version = 0;
    return out;
}

}  // namespace viridian::trace::cupti
