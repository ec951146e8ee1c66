// rooms: report
// Any saved result: a page or an error.
#include <cstddef>
#include <cstdint>

#include "viridian/base/json.hpp"
#include "viridian/report/page.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = viridian::parse_json({reinterpret_cast<const char*>(data), size}, "result");
    if (!json.ok()) return 0;
    const auto page = viridian::report::page(*json);
    if (page.ok() && page->find("</html>") == std::string::npos) __builtin_trap();
    return 0;
}
