#include "viridian/account/power/placement.hpp"

#include <charconv>
#include <cstdio>
#include <set>

namespace viridian::account {

Placement::Placement(const meter::PowerLog& log) {
    std::set<std::string> packages;
    for (const std::string& line : log.metadata) {
        long long cpu = 0, package = 0;
        if (std::sscanf(line.c_str(), "cpu_package %lld %lld", &cpu, &package) == 2)
            packages.insert(device_of_cpu_[cpu] = fmt::format("cpu:{}", package));
    }
    packages_ = packages.size();
    for (const meter::Series& series : log.series) {
        const std::string& device = series.channel.device;
        std::int64_t thread = 0;
        if (series.channel.kind != meter::Kind::thread_cpu || !device.starts_with("tid:")) continue;
        if (std::from_chars(device.data() + 4, device.data() + device.size(), thread).ec == std::errc{} &&
            !series.readings.empty())
            threads_[thread] = {&series.readings, 0};
    }
}

const std::string* Placement::device_of(std::int64_t thread, std::int64_t time_ns) {
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return nullptr;
    Thread& one = found->second;
    while (one.at + 1 < one.readings->size() && (*one.readings)[one.at + 1].time_ns <= time_ns) ++one.at;
    const auto device = device_of_cpu_.find((*one.readings)[one.at].value);
    return device == device_of_cpu_.end() ? nullptr : &device->second;
}

}  // namespace viridian::account
