// rooms: data graph
// Any bytes as a .npy file; what reads well comes back after writing.
#include "viridian/data/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const auto tensor = data::parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!tensor.ok()) return 0;
    const auto again = data::parse_npy(*data::npy_bytes(*tensor), "again");
    if (!again.ok() || !again->same_bytes(*tensor)) __builtin_trap();
    return 0;
}
