#include "viridian/base/system/peak_memory.hpp"

#include <cstdint>
#include <fstream>
#include <string>

namespace viridian {

Bytes peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (std::int64_t kibibytes = 0; word == "VmHWM:" && status >> kibibytes)
            return Bytes(kibibytes * 1024);
    return {};
}

}  // namespace viridian
