#include "viridian/trace/join/merge.hpp"

#include <algorithm>

namespace viridian::trace {
namespace {

constexpr std::size_t batch_events = std::size_t{1} << 12;

// One part, in the numbering of the whole.
class Input {
  public:
    Input(Part part, std::uint32_t index, std::size_t parts)
        : process_(std::move(part.process)), source_(std::move(part.source)), index_(index), parts_(parts) {}

    // The next event; nullptr at the end. `about` are the tables of the whole.
    Result<const Event*> front(Trace& about) {
        if (at_ == batch_.size() && !ended_) {
            VIRIDIAN_TRY(batch_, source_->next());
            at_ = 0;
            ended_ = batch_.empty();
            if (!ended_ && source_->about().clock.zero != Clock::Zero::unix_epoch)
                return fail(
                    ErrorCode::mismatch, "account each of them with --trace and --offset",
                    "the times of `{}` do not count from 1970, so that several traces cannot be merged",
                    source_->about().source);
            add_tables(about);
        }
        return at_ < batch_.size() ? &batch_[at_] : nullptr;
    }
    // The event that `front` shows, which it passes over.
    Event take() {
        Event event = batch_[at_++];
        event.name = names_[event.name];
        event.type = names_[event.type];
        event.path = paths_[event.path];
        event.scope = paths_[event.scope];
        event.lane = lanes_[event.lane];
        event.device = devices_[event.device];
        for (InstanceId* instance : {&event.instance, &event.parent, &event.owner, &event.forward})
            if (*instance != 0) *instance = (*instance - 1) * parts_ + index_ + 1;
        return event;
    }
    // Adds to `about` what is complete at the end.
    void add_end(Trace& about) const {
        const Trace& from = source_->about();
        about.format = index_ == 0 || about.format == from.format ? from.format : "several";
        about.source += (index_ == 0 ? "" : ", ") + from.source;
        about.clock.resolution =
            index_ == 0 ? from.clock.resolution : std::max(about.clock.resolution, from.clock.resolution);
        about.lost_events += from.lost_events;
        about.capped = about.capped || from.capped;
        about.unowned += from.unowned;
        for (const Edge& edge : from.edges)
            about.edges.push_back({paths_[edge.from], paths_[edge.to], edge.count});
        for (const Warning& warning : from.warnings)
            about.warnings.push_back(
                {fmt::format("{}: {}", process_, warning.what), warning.count, warning.first});
    }

  private:
    void add_tables(Trace& about) {
        const Trace& from = source_->about();
        while (names_.size() < from.names.size())
            names_.push_back(about.names.add(from.names[static_cast<NameId>(names_.size())]));
        while (paths_.size() < from.paths.size()) {
            const auto path = static_cast<PathId>(paths_.size());
            paths_.push_back(
                path == 0 ? 0
                          : about.paths.add(paths_[from.paths.parent(path)], names_[from.paths.part(path)]));
        }
        while (devices_.size() < from.devices.size())
            devices_.push_back(about.device(from.devices[devices_.size()]));
        while (lanes_.size() < from.lanes.size()) {
            Lane lane = from.lanes[lanes_.size()];
            lane.device = devices_[lane.device];
            lane.part = index_;
            lane.name = lane.name.empty() ? process_ : process_ + " " + lane.name;
            lanes_.push_back(static_cast<LaneId>(about.lanes.size()));
            about.lanes.push_back(std::move(lane));
        }
    }

    std::string process_;
    std::unique_ptr<Source> source_;
    std::uint32_t index_;
    std::size_t parts_;
    std::span<const Event> batch_;
    std::size_t at_ = 0;
    bool ended_ = false;
    std::vector<NameId> names_;  // of the part, in the whole
    std::vector<PathId> paths_;
    std::vector<DeviceId> devices_;
    std::vector<LaneId> lanes_;
};

class Merged : public Source {
  public:
    explicit Merged(std::vector<Part> parts) {
        const std::size_t count = parts.size();
        for (Part& part : parts) {
            about_.processes.push_back(part.process);
            inputs_.emplace_back(std::move(part), static_cast<std::uint32_t>(inputs_.size()), count);
        }
    }

    Result<std::span<const Event>> next() override {
        out_.clear();
        while (out_.size() < batch_events) {
            VIRIDIAN_TRY(Input * first, earliest());
            if (first == nullptr) break;
            out_.push_back(first->take());
            const Event& event = out_.back();
            about_.begin = about_.events == 0 ? event.start : about_.begin;
            about_.end = about_.events == 0 ? event.end : std::max(about_.end, event.end);
            ++about_.events;
        }
        if (out_.empty() && !std::exchange(ended_, true))
            for (const Input& input : inputs_) input.add_end(about_);
        return std::span<const Event>(out_);
    }
    const Trace& about() const override { return about_; }

  private:
    // The part whose next event is the first of all; nullptr at the end.
    Result<Input*> earliest() {
        Input* first = nullptr;
        const Event* least = nullptr;
        for (Input& input : inputs_) {
            VIRIDIAN_TRY(const Event* event, input.front(about_));
            if (event != nullptr && (least == nullptr || earlier(*event, *least))) {
                first = &input;
                least = event;
            }
        }
        return first;
    }

    std::vector<Input> inputs_;
    Trace about_;
    std::vector<Event> out_;
    bool ended_ = false;
};

}  // namespace

std::unique_ptr<Source> merged(std::vector<Part> parts) { return std::make_unique<Merged>(std::move(parts)); }

}  // namespace viridian::trace
