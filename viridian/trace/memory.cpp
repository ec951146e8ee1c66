#include <algorithm>
#include <optional>

#include "viridian/trace/join/nest.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::trace {
namespace {

class Memory : public Source {
  public:
    Memory(Trace about, std::vector<Event> events) : about_(std::move(about)), events_(std::move(events)) {
        if (!std::ranges::is_sorted(events_, earlier)) {
            for (std::size_t i = 0; i < events_.size(); ++i)
                events_[i].instance = i;  // ties keep their order
            std::ranges::sort(events_, [](const Event& a, const Event& b) {
                return earlier(a, b) || (!earlier(b, a) && a.instance < b.instance);
            });
        }
        about_.events = events_.size();
        about_.unowned = 0;
        if (!events_.empty()) about_.begin = about_.end = events_.front().start;
        Nest nest;
        for (Event& event : events_) {
            about_.end = std::max(about_.end, event.end);
            const Nest::Open* parent = nest.enter(event, 0);
            if (event.path == 0) qualify(event, parent, about_);
            nest.open(event);
            const bool accelerated = is_work(event.kind) && event.kind != Kind::operation;
            if (accelerated && event.owner == 0 && event.scope == 0) ++about_.unowned;
        }
    }

    Result<std::span<const Event>> next() override {
        const std::size_t count = std::min(batch_size, events_.size() - handed_);
        handed_ += count;
        return std::span<const Event>(events_).subspan(handed_ - count, count);
    }
    const Trace& about() const override { return about_; }

  private:
    static constexpr std::size_t batch_size = 1U << 14;
    Trace about_;
    std::vector<Event> events_;
    std::size_t handed_ = 0;
};

}  // namespace

std::unique_ptr<Source> from_memory(Trace about, std::vector<Event> events) {
    return std::make_unique<Memory>(std::move(about), std::move(events));
}

Result<void> copy(Source& source, Sink& sink) {
    for (;;) {
        VIRIDIAN_TRY(const std::span<const Event> batch, source.next());
        if (batch.empty()) return sink.finish(source.about());
        VIRIDIAN_TRY(sink.take(batch, source.about()));
    }
}

Result<Collected> collect(Source& source) {
    Collected all;
    for (;;) {
        VIRIDIAN_TRY(const std::span<const Event> batch, source.next());
        if (batch.empty()) break;
        all.events.insert(all.events.end(), batch.begin(), batch.end());
    }
    all.about = source.about();
    return all;
}

}  // namespace viridian::trace
