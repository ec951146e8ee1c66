// rooms: data graph
// Any bytes as an IDX file, plain or compressed, and as .npy, which is read sample by sample. A .npy file
// that reads well as a whole comes back after writing.
#include "fuzz/read_samples.hpp"
#include "viridian/data/npy.hpp"
#include "viridian/data/open.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    data::OpenOptions options;
    for (const data::Format format : {data::Format::idx, data::Format::npy}) {
        options.format = format;
        read_samples(data::open_bytes(data::ByteSource::of(bytes, "fuzz"), options));
    }
    const auto tensor = data::parse_npy(bytes, "fuzz");
    if (!tensor.ok()) return 0;
    const auto again = data::parse_npy(*data::npy_bytes(*tensor), "again");
    if (!again.ok() || !again->same_bytes(*tensor)) __builtin_trap();
    return 0;
}
