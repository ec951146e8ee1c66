#include "viridian/execute/cpu/primitive_cache.hpp"

#include <pthread.h>

#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>

namespace viridian::execute::cpu {
namespace {

struct CacheSwitch {
    std::mutex mutex;
    int users = 0;
    int capacity = 0;  // while there are users: the one to come back
};

CacheSwitch& cache_switch() {
    static CacheSwitch one;
    // A child of fork() has none of the parent's other threads, which may have been users.
    static const int watches_forks = pthread_atfork([] { one.mutex.lock(); }, [] { one.mutex.unlock(); },
                                                    [] {
                                                        if (one.users > 0)
                                                            dnnl::set_primitive_cache_capacity(one.capacity);
                                                        one.users = 0;
                                                        one.mutex.unlock();
                                                    });
    static_cast<void>(watches_forks);
    return one;
}

}  // namespace

NoPrimitiveCache::NoPrimitiveCache() {
    CacheSwitch& cache = cache_switch();
    const std::lock_guard lock(cache.mutex);
    if (cache.users++ > 0) return;
    cache.capacity = dnnl::get_primitive_cache_capacity();
    dnnl::set_primitive_cache_capacity(0);
}

NoPrimitiveCache::~NoPrimitiveCache() {
    CacheSwitch& cache = cache_switch();
    const std::lock_guard lock(cache.mutex);
    if (--cache.users == 0) dnnl::set_primitive_cache_capacity(cache.capacity);
}

}  // namespace viridian::execute::cpu
