#pragma once
// Reports the kernels, copies and fills of this process from NVIDIA's CUPTI (activity API), which is opened
// at run time. This file needs no other part of Viridian, because tools/cupti_inject loads it into other
// people's programs. Source: CUPTI 13.0, cupti_activity.h. The beginning of the records has not changed since
// CUDA 9 (CUpti_ActivityKernel4, CUpti_ActivityMemcpy, CUpti_ActivityMemset2); only that part is read.
#include <cstddef>
#include <cstdint>
#include <string>

namespace viridian::trace::cupti {

// The beginnings of CUPTI's records of a kernel, a copy and a fill, as its library writes them.
struct KernelRecord {
    std::uint32_t kind;
    std::uint8_t cache_config, shared_memory_config;
    std::uint16_t registers;
    std::uint32_t partitioned_requested, partitioned_executed;
    std::uint64_t start, end, completed;
    std::uint32_t device, context, stream;
    std::int32_t grid[3], block[3];
    std::int32_t static_memory, dynamic_memory;
    std::uint32_t local_per_thread, local_total, correlation;
    std::int64_t grid_id;
    const char* name;
};

struct CopyRecord {
    std::uint32_t kind;
    std::uint8_t copy_kind, from, to, flags;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation;
};

struct FillRecord {
    std::uint32_t kind, value;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation;
};

inline constexpr std::uint32_t copy_kind = 1, fill_kind = 2, kernel_kind = 10;  // 10: CONCURRENT_KERNEL

// An Activity is one kernel, copy or fill, independent of CUPTI's version.
struct Activity {
    std::uint32_t kind;             // kernel_kind, copy_kind or fill_kind
    std::int64_t start_ns, end_ns;  // Unix time
    std::uint32_t device, stream, correlation;
    std::uint64_t bytes;     // of copies and fills
    std::int32_t grid[3];    // of kernels
    const char* name;        // of kernels: mangled, valid during the call only; else null
    std::uint8_t direction;  // of copies: CUpti_ActivityMemcpyKind
};

// Take receives the records. It is called on CUPTI's own thread, for one record at a time.
using Take = void (*)(void* context, const Activity& work);

// Starts to report work to `take`, which gets `context`. Returns an empty string, or a text that says what is
// wrong. A process has one recording at a time, because CUPTI's callbacks carry no context. `library` is the
// path of libcupti; if it is empty, libcupti is looked for by name and in CUDA's folders.
[[nodiscard]] std::string start(const std::string& library, Take take, void* context);
// Waits for work that still runs, reports it, and ends. Returns how many records CUPTI had to drop.
std::uint64_t stop();

// A Probe holds what is known about the libcupti that `start` would load. It is found by starting and
// stopping that library.
struct Probe {
    std::string path;           // empty: there is none
    std::uint32_t version = 0;  // CUPTI_API_VERSION: 18 is CUDA 11.8, 130001 CUDA 13.0 Update 1; 0 unknown
    std::string wrong;          // empty: it records here
    int status = 0;             // CUptiResult of the failure, 0 if CUPTI reported none
};
inline constexpr int insufficient_privileges = 35, multiple_subscribers = 39;  // CUptiResult
[[nodiscard]] Probe probe(const std::string& library);

}  // namespace viridian::trace::cupti
