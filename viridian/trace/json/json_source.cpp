#include "viridian/trace/json/json_source.hpp"

#include <algorithm>
#include <optional>

#include "viridian/trace/join/raw_events.hpp"
#include "viridian/trace/join/resolve.hpp"

namespace viridian::trace {
namespace {

constexpr Nanoseconds year_2001 = 1'000'000'000'000'000'000;

class JsonSource : public Source {
  public:
    JsonSource(std::unique_ptr<Bytes> bytes, const Format& format, std::string name,
               const ReadOptions& options)
        : bytes_(std::move(bytes)), format_(format), options_(options), raw_events_(options.spill) {
        tables_.about.format = format.name;
        tables_.about.source = std::move(name);
    }

    Result<std::span<const Event>> next() override {
        if (!resolver_) VIRIDIAN_TRY(read_all());
        VIRIDIAN_TRY(const std::span<const Event> batch, resolver_->next());
        if (batch.empty() && tables_.about.paths.size() >= Paths::most)
            tables_.about.warn(
                "more qualified names than the table holds; the rest are called by their parents", "");
        return batch;
    }
    const Trace& about() const override { return tables_.about; }

  private:
    Result<void> read_all() {
        JsonEvents events(std::move(bytes_));
        const Understand understand = format_.reader();
        for (;;) {
            VIRIDIAN_TRY(const JsonEvent* event, events.next());
            if (event == nullptr) break;
            std::optional<Raw> raw = raw_of(*event, tables_);
            if (raw && event->phase() == 'C') {
                for (const Raw& one : counters_of(*event, *raw, tables_)) VIRIDIAN_TRY(raw_events_.add(one));
            } else if (raw) {
                raw = understand(*event, *raw, tables_);
                if (raw) VIRIDIAN_TRY(raw_events_.add(*raw));
            }
        }
        if (raw_events_.count() == 0 && events.faults().any())
            return fail(ErrorCode::malformed, "check that it is a profiler's trace",
                        "`{}` has no event that can be read", tables_.about.source);
        report(events.faults());
        if (format_.settle != nullptr) format_.settle(tables_, {events.top(), raw_events_.count()});
        VIRIDIAN_TRY(raw_events_.finish(tables_.about));
        tables_.name_lanes();
        const Nanoseconds base = settle_clock(events);
        const Nanoseconds resolution = tables_.about.clock.resolution;
        resolver_.emplace(tables_, raw_events_, options_.spill, base, resolution == 1 ? 1 : 2 * resolution,
                          format_.flows_are_data);
        return {};
    }

    void report(const JsonFaults& faults) {
        Trace& about = tables_.about;
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
        Clock& clock = tables_.about.clock;
        Nanoseconds base = 0;
        for (const auto& [key, text] : events.top())
            if (key == "baseTimeNanoseconds")
                base = std::clamp<Nanoseconds>(integer(text).value_or(0), 0, 4 * year_2001);
        const bool epoch = base > 0 || raw_events_.earliest() >= year_2001;
        if (!tables_.file_names_lanes)  // else its tables said so
            clock.zero = epoch ? Clock::Zero::unix_epoch : Clock::Zero::unknown;
        clock.resolution = raw_events_.fractions_seen() ? 1 : 1000;
        return base + options_.shift;
    }

    std::unique_ptr<Bytes> bytes_;
    const Format& format_;
    ReadOptions options_;
    TraceTables tables_;
    RawEvents raw_events_;
    std::optional<Resolver> resolver_;
};

}  // namespace

std::unique_ptr<Source> json_source(std::unique_ptr<Bytes> bytes, const Format& format, std::string name,
                                    const ReadOptions& options) {
    return std::make_unique<JsonSource>(std::move(bytes), format, std::move(name), options);
}

}  // namespace viridian::trace
