#include "viridian/execute/cpu/pool/openmp.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <oneapi/dnnl/dnnl.hpp>

#include "viridian/execute/cpu/pool/crew.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"

namespace viridian::execute::cpu {
namespace {

using OpenMpBody = void (*)(void*);

// How often the calling thread asked us how many threads there are.
thread_local unsigned asked = 0;

template <class Function>
Function* function_of(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// The functions that the process would have without ours; null if it has no other OpenMP.
struct NextOpenMp {
    void (*parallel)(OpenMpBody, void*, unsigned, unsigned);
    void (*barrier)();
    int (*max_threads)();
    int (*num_threads)();
    int (*thread_num)();
    int (*in_parallel)();
};

const NextOpenMp& next_openmp() {
    static const NextOpenMp next = {
        function_of<void(OpenMpBody, void*, unsigned, unsigned)>(RTLD_NEXT, "GOMP_parallel"),
        function_of<void()>(RTLD_NEXT, "GOMP_barrier"),
        function_of<int()>(RTLD_NEXT, "omp_get_max_threads"),
        function_of<int()>(RTLD_NEXT, "omp_get_num_threads"),
        function_of<int()>(RTLD_NEXT, "omp_get_thread_num"),
        function_of<int()>(RTLD_NEXT, "omp_in_parallel")};
    return next;
}

struct Region {
    OpenMpBody body;
    void* data;
};

void run_region(void* region, int) {
    const auto& [body, data] = *static_cast<const Region*>(region);
    body(data);
}

// What GOMP_parallel does for a thread that sits in a crew.
void parallel_in_crew(OpenMpBody body, void* data, unsigned threads) {
    Seat& own = seat();
    const auto most = static_cast<unsigned>(own.most_parts());
    const unsigned parts = threads == 0 ? most : std::min(threads, most);
    if (own.parts > 1 || parts == 1) {  // a region within a region has one thread
        const Seat before = own;
        own = {before.crew, 0, 1, before.openmp_waits, before.most};
        body(data);
        own = before;
        return;
    }
    Region region{body, data};
    own.crew->run(static_cast<int>(parts), run_region, &region, own.openmp_waits);
}

// How one OpenMP library tells and takes the number of threads.
struct OpenMpThreads {
    int (*get)();
    void (*set)(int);
};

// Of the library that oneDNN may use: the first of the process, and the one that oneDNN itself needs. What
// they have in common is called once.
const std::array<OpenMpThreads, 2>& other_openmp() {
    static const std::array<OpenMpThreads, 2> others = [] {
        Dl_info info{};
        void* onednn = dladdr(reinterpret_cast<void*>(&dnnl_version), &info) == 0
                           ? nullptr
                           : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        std::array<OpenMpThreads, 2> found{};
        std::size_t i = 0;
        for (void* library : {RTLD_DEFAULT, onednn}) {
            if (library == nullptr && i > 0) break;
            found[i++] = {function_of<int()>(library, "omp_get_max_threads"),
                          function_of<void(int)>(library, "omp_set_num_threads")};
        }
        if (found[1].set == found[0].set) found[1].set = nullptr;
        return found;
    }();
    return others;
}

}  // namespace

bool onednn_runs_on_crews() {
    // oneDNN asks for the number of threads when it plans a change of layout.
    static const bool answer = [] {
        using dnnl::memory;
        const unsigned before = asked;
        try {
            const NoPrimitiveCache no_cache;
            const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
            const memory::dims dims = {1, 16, 4, 4};
            const memory::desc from(dims, memory::data_type::f32, memory::format_tag::nchw);
            const memory::desc to(dims, memory::data_type::f32, memory::format_tag::nChw16c);
            const dnnl::reorder::primitive_desc asks(engine, from, engine, to);
        } catch (const dnnl::error&) {
            return false;  // what follows will fail too, and say why
        }
        return asked != before;
    }();
    return answer;
}

OneThreadOfOpenMp::OneThreadOfOpenMp() {
    if (onednn_runs_on_crews()) return;
    for (std::size_t i = 0; i < other_openmp().size(); ++i) {
        const OpenMpThreads& other = other_openmp()[i];
        if (other.get == nullptr || other.set == nullptr) continue;
        before_[i] = other.get();
        other.set(1);
    }
}

OneThreadOfOpenMp::~OneThreadOfOpenMp() {
    for (std::size_t i = 0; i < other_openmp().size(); ++i)
        if (before_[i] > 0) other_openmp()[i].set(before_[i]);
}

}  // namespace viridian::execute::cpu

// OpenMP's functions, as GCC and OpenMP 5 declare them.
extern "C" {

[[gnu::visibility("default")]] void GOMP_parallel(void (*body)(void*), void* data, unsigned threads,
                                                  unsigned flags) {
    using namespace viridian::execute::cpu;
    if (seat().crew != nullptr) return parallel_in_crew(body, data, threads);
    if (next_openmp().parallel != nullptr) return next_openmp().parallel(body, data, threads, flags);
    body(data);
}

[[gnu::visibility("default")]] void GOMP_barrier() {
    using namespace viridian::execute::cpu;
    if (seat().crew != nullptr) return seat().crew->barrier();
    if (next_openmp().barrier != nullptr) next_openmp().barrier();
}

[[gnu::visibility("default")]] int omp_get_max_threads() {
    using namespace viridian::execute::cpu;
    ++asked;
    if (const Seat& own = seat(); own.crew != nullptr) return own.most_parts();
    return next_openmp().max_threads == nullptr ? 1 : next_openmp().max_threads();
}

[[gnu::visibility("default")]] int omp_get_num_threads() {
    using namespace viridian::execute::cpu;
    if (const Seat& own = seat(); own.crew != nullptr) return own.parts;
    return next_openmp().num_threads == nullptr ? 1 : next_openmp().num_threads();
}

[[gnu::visibility("default")]] int omp_get_thread_num() {
    using namespace viridian::execute::cpu;
    if (const Seat& own = seat(); own.crew != nullptr) return own.part;
    return next_openmp().thread_num == nullptr ? 0 : next_openmp().thread_num();
}

[[gnu::visibility("default")]] int omp_in_parallel() {
    using namespace viridian::execute::cpu;
    if (const Seat& own = seat(); own.crew != nullptr) return own.parts > 1 ? 1 : 0;
    return next_openmp().in_parallel == nullptr ? 0 : next_openmp().in_parallel();
}
}
