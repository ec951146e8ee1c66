// rooms: meter
#include <cstddef>
#include <cstdint>

#include "viridian/meter/characterise/characterise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)viridian::meter::parse_load(text, "fuzz");
    const auto log = viridian::meter::parse_probe_log(text, "fuzz");
    if (!log.ok()) return 0;
    const auto again = viridian::meter::parse_probe_log(viridian::meter::text_of(*log), "again");
    if (!again.ok() || again->fields.size() != log->fields.size()) __builtin_trap();
    for (const auto& field : log->fields) (void)viridian::meter::find_renewals(field.readings);
    return 0;
}
