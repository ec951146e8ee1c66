// rooms: data graph
// Any bytes as a CSV file: every column on its own, with a label, and without names.
#include "fuzz/read_samples.hpp"
#include "viridian/data/sources/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const auto file =
        data::ByteSource::of(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv");
    read_samples(data::open_csv(file, {}));
    read_samples(data::open_csv(file, {.label = "y"}));
    read_samples(data::open_csv(file, {.header = false}));
    read_samples(data::open_csv(file, {.label = "y", .categories = {{"y", {"a", "b"}}}}));
    return 0;
}
