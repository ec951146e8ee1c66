#include <cmath>

#include "viridian/trace/write/write.hpp"

namespace viridian::trace {

Result<void> write_folded(Out& out, const Trace& about, const Weights& weights) {
    std::string line;
    for (const Weight& weight : weights.items) {
        const long long value = std::llround(weight.value);
        if (value == 0) continue;
        line.clear();
        for (const std::string_view frame : frames_of(weight, about)) {
            if (!line.empty()) line += ';';
            for (const char c : frame) line += c == ';' ? ':' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
        fmt::format_to(std::back_inserter(line), " {}\n", value);
        VIRIDIAN_TRY(out.put(line));
    }
    return out.close();
}

}  // namespace viridian::trace
