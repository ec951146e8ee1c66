// rooms: data graph
// Any bytes as a list of categories; what reads well comes back after writing.
#include "viridian/data/categories.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const auto read = data::parse_categories({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!read.ok()) return 0;
    const auto again = data::parse_categories(data::categories_text(*read), "again");
    if (!again.ok() || *again != *read) __builtin_trap();
    return 0;
}
