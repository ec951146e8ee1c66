#include "viridian/trace/json_source.hpp"

#include <algorithm>
#include <optional>

#include "viridian/trace/intake.hpp"
#include "viridian/trace/resolve.hpp"

namespace viridian::trace {
namespace {

constexpr Nanoseconds year_2001 = 1'000'000'000'000'000'000;

class JsonSource : public Source {
  public:
    JsonSource(std::unique_ptr<Bytes> bytes, const Format& format, std::string name,
               const ReadOptions& options)
        : bytes_(std::move(bytes)), format_(format), options_(options), intake_(options.spill) {
        intake_.about.format = format.name;
        intake_.about.source = std::move(name);
    }

    Result<std::span<const Event>> next() override {
        if (!resolver_) VIRIDIAN_TRY(read_all());
        VIRIDIAN_TRY(const std::span<const Event> batch, resolver_->next());
        if (batch.empty() && intake_.about.paths.size() >= Paths::most)
            intake_.about.warn(
                "more qualified names than the table holds; the rest are called by their parents", "");
        return batch;
    }
    const Trace& about() const override { return intake_.about; }

  private:
    Result<void> read_all() {
        JsonEvents events(std::move(bytes_));
        for (;;) {
            VIRIDIAN_TRY(const JsonEvent* event, events.next());
            if (event == nullptr) break;
            std::optional<Raw> raw = intake_.common(*event);
            if (!raw) continue;
            if (event->phase() == 'C') {
                raw->lane = intake_.lane(0, intake_.number_of((*event)[Key::pid]),
                                         intake_.number_of((*event)[Key::tid]));
                VIRIDIAN_TRY(intake_.add_counter(*event, *raw));
            } else if (format_.understand(*event, intake_, *raw)) {
                VIRIDIAN_TRY(intake_.add(*raw));
            }
        }
        if (intake_.count() == 0 && events.faults().any())
            return fail(ErrorCode::malformed, "check that it is a profiler's trace",
                        "`{}` has no event that can be read", intake_.about.source);
        report(events.faults());
        if (format_.settle != nullptr) format_.settle(intake_, events.top());
        VIRIDIAN_TRY(intake_.finish());
        const Nanoseconds base = settle_clock(events);
        const Nanoseconds slack =
            intake_.about.clock.resolution == 1 ? 1 : 2 * intake_.about.clock.resolution;
        resolver_.emplace(intake_, options_.spill, base, slack, format_.name == chrome_format.name);
        return {};
    }

    void report(const JsonFaults& faults) {
        Trace& about = intake_.about;
        const auto& counts = faults.counts;
        const std::string where = fmt::format("at byte {}", counts.first_offset);
        if (counts.skipped > 0) about.warn("events that could not be read, skipped", where, counts.skipped);
        if (counts.unescaped_quotes > 0)
            about.warn("unescaped quotes in strings", where, counts.unescaped_quotes);
        if (counts.missing_commas > 0) about.warn("missing commas", where, counts.missing_commas);
        if (counts.garbage > 0)
            about.warn("stretches of text that are no events, skipped", where, counts.garbage);
        if (faults.cut) about.warn("the file is cut off", "");
        if (!faults.damage.empty()) about.warn(faults.damage, "");
        about.lost_events += counts.skipped;
    }

    // What is to be added to the file's times.
    Nanoseconds settle_clock(const JsonEvents& events) {
        Clock& clock = intake_.about.clock;
        Nanoseconds base = 0;
        for (const auto& [key, text] : events.top())
            if (key == "baseTimeNanoseconds")
                base = std::clamp<Nanoseconds>(integer(text).value_or(0), 0, 4 * year_2001);
        const bool epoch = base > 0 || intake_.earliest() >= year_2001;
        if (!intake_.lanes_settled)  // else its tables said so
            clock.zero = epoch ? Clock::Zero::unix_epoch : Clock::Zero::unknown;
        clock.resolution = intake_.fractions_seen() ? 1 : 1000;
        return base + options_.shift;
    }

    std::unique_ptr<Bytes> bytes_;
    const Format& format_;
    ReadOptions options_;
    Intake intake_;
    std::optional<Resolver> resolver_;
};

}  // namespace

std::unique_ptr<Source> json_source(std::unique_ptr<Bytes> bytes, const Format& format, std::string name,
                                    const ReadOptions& options) {
    return std::make_unique<JsonSource>(std::move(bytes), format, std::move(name), options);
}

}  // namespace viridian::trace
