#include <algorithm>
#include <unordered_map>

#include "viridian/trace/write/write.hpp"

namespace viridian::trace {
namespace {

class Totals {
  public:
    void take(const Event& event) {
        if (!is_work(event.kind)) return;
        if (event.lane >= lanes_.size()) lanes_.resize(event.lane + 1);
        std::vector<Open>& open = lanes_[event.lane];
        while (!open.empty() && open.back().end <= event.start) close(open);
        if (!open.empty()) {
            Open& above = open.back();
            const Nanoseconds covered = std::min(event.end, above.end) - std::max(event.start, above.covered);
            above.own -= std::max<Nanoseconds>(covered, 0);
            above.covered = std::max(above.covered, std::min(event.end, above.end));
        }
        while (!open.empty() && open.back().end <= event.end) close(open);  // nothing more lies in it alone
        open.push_back({event.end, event.start, event.duration(), event.path, event.device, event.pass});
    }
    std::vector<Weight> finish() {
        for (std::vector<Open>& open : lanes_)
            while (!open.empty()) close(open);
        return std::move(items_);
    }

  private:
    struct Open {
        Nanoseconds end, covered, own;
        PathId path;
        DeviceId device;
        Pass pass;
    };
    void close(std::vector<Open>& open) {
        const Open done = open.back();
        open.pop_back();
        const std::uint64_t key = std::uint64_t{done.path} << 19U | std::uint64_t{done.device} << 3U |
                                  static_cast<unsigned>(done.pass);
        const auto [found, fresh] = index_.try_emplace(key, items_.size());
        if (fresh) items_.push_back({done.device, done.pass, done.path, 0.0});
        items_[found->second].value += static_cast<double>(std::max<Nanoseconds>(done.own, 0));
    }
    std::vector<std::vector<Open>> lanes_;
    std::unordered_map<std::uint64_t, std::size_t> index_;
    std::vector<Weight> items_;
};

}  // namespace

Result<Weights> self_times(Source& source) {
    Totals totals;
    for (;;) {
        VIRIDIAN_TRY(const std::span<const Event> batch, source.next());
        if (batch.empty()) return Weights{"time", "nanoseconds", totals.finish()};
        for (const Event& event : batch) totals.take(event);
    }
}

std::vector<std::string_view> frames_of(const Weight& weight, const Trace& about) {
    std::vector<std::string_view> frames;
    for (PathId path = weight.path; path != 0; path = about.paths.parent(path))
        frames.push_back(about.names[about.paths.part(path)]);
    if (weight.pass == Pass::backward || weight.pass == Pass::recompute)
        frames.push_back(name_of(weight.pass));
    frames.push_back(about.devices[weight.device]);
    std::ranges::reverse(frames);
    return frames;
}

}  // namespace viridian::trace
