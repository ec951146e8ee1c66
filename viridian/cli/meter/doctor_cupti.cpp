#include <fmt/format.h>

#include "viridian/cli/meter/doctor_check.hpp"

namespace viridian::cli {
namespace {

// cupti_version.h of CUDA 13.0 lists them.
std::string release_of(std::uint32_t version) {
    constexpr std::uint32_t numbered = 100'000, first = 12;
    constexpr std::string_view before[] = {"10.0", "11.0", "11.1", "11.2", "11.5", "11.6", "11.8",
                                           "12.0", "12.2", "12.3", "12.4", "12.5", "12.6"};
    if (version >= numbered) return fmt::format("of CUDA {}.{}", version / 10'000, version / 100 % 100);
    if (version >= first && version - first < std::size(before))
        return fmt::format("of CUDA {} or later", before[version - first]);
    return version > first ? "of CUDA 12.8 or later" : "of an unknown version";
}

}  // namespace

Check check_cupti(const trace::cupti::Probe& found, std::string_view parameters) {
    namespace cupti = trace::cupti;
    constexpr const char* open_counters =
        "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee "
        "/etc/modprobe.d/nvidia-profiling.conf, then restart (a container: docker run --cap-add=SYS_ADMIN); "
        "or time operators by events: viridian record --torch --events";
    Check check{"cupti", !found.path.empty() && found.wrong.empty(), "", "", {}};
    if (found.path.empty()) {
        check.finding = "no libcupti here, which `record --cupti` needs";
        check.next_step =
            "with an NVIDIA GPU: install CUDA's CUPTI, or VIRIDIAN_CUPTI=/path/to/libcupti.so names one";
        return check;
    }
    check.details.push_back(found.path);
    const std::string library = "CUPTI " + release_of(found.version);
    if (parameters.find("RmProfilingAdminOnly: 1") != std::string_view::npos)
        check.details.emplace_back(
            "the driver leaves performance counters to root; tracing needs none since CUDA 10.2");
    if (check.works) {
        check.finding = library + " records kernels";
        return check;
    }
    check.finding = fmt::format("{} does not record: {}", library, found.wrong);
    if (found.status == cupti::insufficient_privileges)
        check.next_step = open_counters;
    else if (found.status == cupti::multiple_subscribers)
        check.next_step = "end the other profiler: one at a time may use CUPTI";
    else if (parameters.empty())
        check.next_step = "load the NVIDIA driver if there is a GPU: sudo modprobe nvidia";
    else
        check.next_step = "install the CUPTI of the driver's CUDA version (`nvidia-smi` shows it)";
    return check;
}

}  // namespace viridian::cli
