// rooms: account
// A saved accounting, and epochs as a client of the monitor writes them: errors, or what survives being
// written and read.
#include <cmath>
#include <cstddef>

#include "viridian/account/products/epochs.hpp"
#include "viridian/account/result.hpp"
#include "viridian/base/json.hpp"

namespace {

// Nanoseconds are kept as seconds, so the last digits of a number may change.
bool same(const viridian::Json& a, const viridian::Json& b) {
    if (a.is_number() && b.is_number()) {
        const double x = a.get<double>(), y = b.get<double>();
        return x == y || std::abs(x - y) <= 1e-14 * std::abs(x) + 1e-290;
    }
    if (!a.is_structured() || a.type() != b.type() || a.size() != b.size()) return a == b;
    for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right)
        if ((a.is_object() && left.key() != right.key()) || !same(*left, *right)) return false;
    return true;
}

}  // namespace

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
    if (!again.ok() || !same(account::to_json(*again), written)) __builtin_trap();
    return 0;
}
