// rooms: pipeline
// Stage profiles: whatever the bytes, an error or a profile whose frontier is certified.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/partition.hpp"
#include "viridian/pipeline/profile/profile_json.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace viridian::pipeline;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)read_layers_csv(text, "fuzz").ok();
    const auto profile = read_profile(text, "fuzz");
    if (!profile.ok() || profile->size() > 6) return 0;
    const auto network = make_network(one_f_one_b(profile->size(), 3), *profile);
    if (network.ok()) (void)exact_frontier(*network).ok();
    return 0;
}
