// rooms: data graph
// Any bytes as an .npz file, of whose columns samples are read.
#include "fuzz/read_samples.hpp"
#include "viridian/data/sources/npz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    read_samples(data::open_npz(data::ByteSource::of(bytes, "fuzz.npz"), {}));
    return 0;
}
