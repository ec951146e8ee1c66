#include "viridian/trace/join/label.hpp"

namespace viridian::trace {
namespace {

class Kernels : public Source {
  public:
    explicit Kernels(std::unique_ptr<Source> full) : full_(std::move(full)) {}

    Result<std::span<const Event>> next() override {
        kept_.clear();
        while (kept_.empty()) {
            VIRIDIAN_TRY(const std::span<const Event> batch, full_->next());
            if (batch.empty()) break;
            for (const Event& event : batch)
                if (is_work(event.kind) && event.kind != Kind::operation) keep(event);
        }
        if (kept_.empty()) finish();
        return std::span<const Event>(kept_);
    }
    const Trace& about() const override { return about_; }

  private:
    void keep(const Event& full) {
        const Trace& from = full_->about();
        Event event;
        event.start = full.start;
        event.end = full.end;
        event.instance = ++about_.events;
        event.kind = full.kind;
        event.correlation = full.correlation;
        event.name = event.type = about_.names.add(from.names[full.name]);
        event.path = about_.paths.add(0, event.name);
        const Lane& lane = from.lanes[full.lane];
        event.device = about_.device(from.devices[full.device]);
        event.lane = about_.lane(event.device, lane.process, lane.thread);
        about_.lanes[event.lane].name = lane.name;
        about_.end = std::max(about_.end, event.end);
        if (about_.events == 1) about_.begin = event.start;
        kept_.push_back(event);
    }
    void finish() {
        const Trace& from = full_->about();
        about_.take_origin(from);
        about_.unowned = about_.events;
    }

    std::unique_ptr<Source> full_;
    Trace about_;
    std::vector<Event> kept_;
};

}  // namespace

std::unique_ptr<Source> kernels_of(std::unique_ptr<Source> full) {
    return std::make_unique<Kernels>(std::move(full));
}

}  // namespace viridian::trace
