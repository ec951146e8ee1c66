#include "viridian/base/system/preemptions.hpp"

#include <sys/resource.h>

namespace viridian {

std::int64_t preemptions() {
    rusage usage{};
    return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

}  // namespace viridian
