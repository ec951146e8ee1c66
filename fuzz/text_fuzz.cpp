// rooms: data graph
// Any bytes as a text: bytes, characters, and characters of a given vocabulary.
#include "fuzz/read_samples.hpp"
#include "viridian/data/sources/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace viridian;
    const auto file =
        data::ByteSource::of(std::string(reinterpret_cast<const char*>(data), size), "fuzz.txt");
    read_samples(data::open_text(file, {.bytes = true, .context = 3}));
    read_samples(data::open_text(file, {.context = 5, .stride = 2}));
    read_samples(data::open_text(file, {.context = 5, .keep_tail = true}));
    read_samples(data::open_text(file, {.context = 2, .vocabulary = {"a", "b", "\xc3\xa9"}}));
    return 0;
}
