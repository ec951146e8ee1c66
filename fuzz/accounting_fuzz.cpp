// rooms: account
// A saved accounting, and epochs as a client of the monitor writes them: errors, or what survives being
// written and read.
#include <cstddef>

#include "viridian/account/epochs.hpp"
#include "viridian/account/result.hpp"
#include "viridian/base/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace viridian;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto epochs = account::parse_epochs(text, "epochs"); epochs.ok())
        for (const account::Epoch& epoch : *epochs)
            if (epoch.end < epoch.begin) __builtin_trap();
    const auto json = parse_json(text, "accounting");
    if (!json.ok()) return 0;
    const auto read = account::accounting_from_json(*json, "accounting");
    if (!read.ok()) return 0;
    const Json written = account::to_json(*read);
    const auto again = account::accounting_from_json(written, "accounting");
    if (!again.ok() || account::to_json(*again) != written) __builtin_trap();
    return 0;
}
