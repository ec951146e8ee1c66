#include "viridian/base/hash.hpp"

#include <cstring>

namespace viridian {

Hash& Hash::add(std::string_view bytes) {
    const std::uint64_t length = bytes.size();
    while (bytes.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        add(word);
        bytes.remove_prefix(8);
    }
    std::uint64_t tail = 0;
    if (!bytes.empty()) std::memcpy(&tail, bytes.data(), bytes.size());
    return add(tail).add(length);
}

}  // namespace viridian
