// rooms: pipeline
// Plans in every trainer's words: the first byte chooses the format.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/formats/megatron_layout.hpp"
#include "viridian/pipeline/profile/device_models.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace viridian;
    using namespace viridian::pipeline;
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 8 == 7) {
        (void)read_megatron_layout(text).ok();
        return 0;
    }
    const FormatRow& row = formats()[data[0] % formats().size()];
    const auto read = row.read(text, "fuzz");
    if (!read.ok()) return 0;
    (void)row.write(read->plan).ok();
    const Schedule& schedule = read->plan.schedule;
    if (schedule.stages > 16 || schedule.micro_batches > 64) return 0;
    const std::vector<DeviceModel> devices(
        static_cast<std::size_t>(schedule.stages < 1 ? 1 : schedule.stages), device_models()[0]);
    Profile profile = model_profile(devices, Seconds(0.03), Seconds(0.06));
    if (schedule.split_backward) split_backward(profile, 0.5);
    const auto network = make_network(schedule, profile);
    if (network.ok()) (void)assign_clocks(read->plan, *network).ok();
    return 0;
}
