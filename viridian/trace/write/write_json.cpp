// Chrome's format with Kineto's categories and argument names, so that other tools find their way, and the
// tables that make it lossless under "viridian" (read by viridian_json.cpp). One process per device, one
// thread per lane.
#include "viridian/trace/json/json_text.hpp"
#include "viridian/trace/write/write.hpp"

namespace viridian::trace {
namespace {

constexpr std::string_view category_of(Kind kind) {
    switch (kind) {
        case Kind::operation:
            return "cpu_op";
        case Kind::kernel:
            return "kernel";
        case Kind::copy:
            return "gpu_memcpy";
        case Kind::fill:
            return "gpu_memset";
        case Kind::launch:
            return "cuda_runtime";
        case Kind::module:
            return "module";
        case Kind::scope:
            return "user_annotation";
        case Kind::function:
            return "python_function";
        default:
            return "overhead";
    }
}

class JsonSink : public Sink {
  public:
    JsonSink(std::unique_ptr<Out> out, JsonExtras extras)
        : out_(std::move(out)), extras_(std::move(extras)) {}

    Result<void> take(std::span<const Event> batch, const Trace& about) override {
        VIRIDIAN_TRY(head(batch.empty() ? 0 : batch.front().start));
        std::string rows;
        for (const Event& event : batch) row(rows, event, about);
        return out_->put(rows);
    }
    Result<void> finish(const Trace& about) override {
        VIRIDIAN_TRY(head(0));
        std::string rows;
        for (std::size_t i = 0; i < about.devices.size(); ++i)
            metadata(rows, "process_name", i + 1, 0, about.devices[i]);
        for (std::size_t i = 0; i < about.lanes.size(); ++i) {
            const Lane& lane = about.lanes[i];
            const std::string_view what = about.devices[lane.device].starts_with("cpu") ? "thread" : "stream";
            metadata(rows, "thread_name", lane.device + std::size_t{1}, i + 1,
                     fmt::format("{} {} {}", what, lane.thread, lane.name));
        }
        for (const CounterTrack& track : extras_.tracks)
            for (const auto& [time, value] : track.points) {
                rows += R"({"ph":"C","name":)";
                append_escaped(rows, track.name);
                rows += R"(,"pid":1,"ts":)";
                append_microseconds(rows, time - base_);
                rows += ",\"args\":{";
                append_escaped(rows, track.unit);
                fmt::format_to(std::back_inserter(rows), ":{}}}}},\n", value);
            }
        rows += "{}],\n";
        fmt::format_to(std::back_inserter(rows), "\"baseTimeNanoseconds\":{},\n", base_);
        tables(rows, about);
        VIRIDIAN_TRY(out_->put(rows));
        return out_->close();
    }

  private:
    Result<void> head(Nanoseconds first) {
        if (std::exchange(headed_, true)) return {};
        constexpr Nanoseconds second = 1'000'000'000;
        base_ =
            first > second * second ? first / second * second : 0;  // times in the file stay short and exact
        return out_->put(
            "{\"schemaVersion\":1,\"viridianTrace\":1,\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    }

    static void metadata(std::string& rows, std::string_view what, std::size_t process, std::size_t thread,
                         std::string_view name) {
        fmt::format_to(std::back_inserter(rows),
                       R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":)", what, process, thread);
        append_escaped(rows, name);
        rows += "}},\n";
    }

    void row(std::string& rows, const Event& event, const Trace& about) const {
        const auto out = std::back_inserter(rows);
        const bool counter = event.kind == Kind::counter, marker = event.kind == Kind::marker;
        rows += counter  ? R"({"ph":"C","name":)"
                : marker ? R"({"ph":"i","s":"t","name":)"
                         : R"({"ph":"X","name":)";
        append_escaped(rows, about.names[event.name]);
        if (!counter && !marker) fmt::format_to(out, R"(,"cat":"{}")", category_of(event.kind));
        fmt::format_to(out, R"(,"pid":{},"tid":{},"ts":)", event.device + 1, event.lane + 1);
        append_microseconds(rows, event.start - base_);
        if (counter) {
            fmt::format_to(out, ",\"args\":{{\"value\":{}}}}},\n", event.value);
            return;
        }
        if (!marker) {
            rows += ",\"dur\":";
            append_microseconds(rows, event.duration());
        }
        fmt::format_to(out, R"(,"args":{{"kind":"{}","path":{})", name_of(event.kind), event.path);
        if (event.scope != 0) {
            fmt::format_to(out, R"(,"scope":{},"in":)", event.scope);
            append_escaped(rows, about.qualified(event.scope));
        }
        if (event.type != event.name) {
            rows += ",\"type\":";
            append_escaped(rows, about.names[event.type]);
        }
        if (event.pass != Pass::unknown) fmt::format_to(out, R"(,"pass":"{}")", name_of(event.pass));
        const InstanceId external = event.kind == Kind::operation ? event.instance : event.owner;
        if (external != 0) fmt::format_to(out, R"(,"External id":{})", external);
        if (event.correlation != 0) fmt::format_to(out, R"(,"correlation":{})", event.correlation);
        if (event.sequence >= 0) fmt::format_to(out, R"(,"Sequence number":{})", event.sequence);
        if (extras_.arguments)
            for (const auto& [name, value] : extras_.arguments(event)) {
                rows += ',';
                append_escaped(rows, name);
                rows += ':';
                append_escaped(rows, value);
            }
        if (extras_.microjoules) {
            if (const double energy = extras_.microjoules(event); energy >= 0.0)
                fmt::format_to(out, R"(,"energy_uj":{:.3f})", energy);
        }
        rows += "}},\n";
    }

    static void tables(std::string& rows, const Trace& about) {
        const auto out = std::back_inserter(rows);
        rows += "\"viridian\":{\"format\":";
        append_escaped(rows, about.format);
        rows += ",\"source\":";
        append_escaped(rows, about.source);
        fmt::format_to(out, R"(,"clock":"{}","resolution":{},"lost_events":{},"capped":{},"devices":[)",
                       about.clock.zero == Clock::Zero::unix_epoch ? "unix" : "unknown",
                       about.clock.resolution, about.lost_events, about.capped);
        const auto comma = [&](std::size_t i) { rows += i == 0 ? "" : ","; };
        for (std::size_t i = 0; i < about.devices.size(); ++i)
            comma(i), append_escaped(rows, about.devices[i]);
        rows += "],\"lanes\":[";
        for (std::size_t i = 0; i < about.lanes.size(); ++i) {
            comma(i);
            fmt::format_to(out, "[{},{},{},", about.lanes[i].device, about.lanes[i].process,
                           about.lanes[i].thread);
            append_escaped(rows, about.lanes[i].name);
            rows += ']';
        }
        rows += "],\"edges\":[";
        for (std::size_t i = 0; i < about.edges.size(); ++i) {
            comma(i);
            fmt::format_to(out, "[{},{},{}]", about.edges[i].from, about.edges[i].to, about.edges[i].count);
        }
        rows += "],\"warnings\":[";
        for (std::size_t i = 0; i < about.warnings.size(); ++i) {
            comma(i);
            rows += '[';
            append_escaped(rows, about.warnings[i].what);
            fmt::format_to(out, ",{},", about.warnings[i].count);
            append_escaped(rows, about.warnings[i].first);
            rows += ']';
        }
        rows += "],\"paths\":[";
        for (PathId path = 1; path < about.paths.size(); ++path) {
            rows += path == 1 ? "[" : ",[";
            fmt::format_to(out, "{},", about.paths.parent(path));
            append_escaped(rows, about.names[about.paths.part(path)]);
            rows += ']';
        }
        rows += "]}}\n";
    }

    std::unique_ptr<Out> out_;
    JsonExtras extras_;
    Nanoseconds base_ = 0;
    bool headed_ = false;
};

}  // namespace

std::unique_ptr<Sink> json_sink(std::unique_ptr<Out> out, JsonExtras extras) {
    return std::make_unique<JsonSink>(std::move(out), std::move(extras));
}

}  // namespace viridian::trace
