// rooms: trace
// The inside of a binary trace: the input, cut at each 0xff, gives the payloads of blocks, packed with right
// checksums so that damage reaches the decoder.
#include <cstddef>
#include <cstdint>

#include "viridian/trace/binary/binary.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace viridian::trace;
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    std::string file(binary_magic);
    while (!rest.empty()) {
        const char kind = (rest.front() & 3) == 3 ? 'C' : (rest.front() & 3) == 1 ? 'E' : 'F';
        rest.remove_prefix(1);
        const std::size_t length = std::min(rest.find('\xff'), rest.size());
        file += binary_block(kind, rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    auto source = open_text(file, "fuzz");
    if (!source.ok()) return 0;
    const auto trace = collect(**source);
    if (!trace.ok()) return 0;
    for (const Event& event : trace->events)
        if (event.end < event.start || event.lane >= trace->about.lanes.size() ||
            event.path >= trace->about.paths.size())
            __builtin_trap();
    return 0;
}
