#include "viridian/trace/write/write.hpp"

namespace viridian::trace {
namespace {

// RFC 4180: quoted where needed, quotes doubled.
void put_cell(std::string& row, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        row += text;
    } else {
        row += '"';
        for (const char c : text) {
            if (c == '"') row += '"';
            row += c;
        }
        row += '"';
    }
    row += ',';
}

class CsvSink : public Sink {
  public:
    explicit CsvSink(std::unique_ptr<Out> out) : out_(std::move(out)) {}

    Result<void> take(std::span<const Event> batch, const Trace& about) override {
        VIRIDIAN_TRY(head());
        std::string rows;
        for (const Event& event : batch) {
            const Lane& lane = about.lanes[event.lane];
            fmt::format_to(std::back_inserter(rows), "{},{},{},", event.start, event.end, event.duration());
            put_cell(rows, about.devices[event.device]);
            fmt::format_to(std::back_inserter(rows), "{},{},{},{},", lane.process, lane.thread,
                           name_of(event.kind), name_of(event.pass));
            put_cell(rows, about.names[event.name]);
            put_cell(rows, about.names[event.type]);
            put_cell(rows, about.qualified(event.path));
            fmt::format_to(std::back_inserter(rows), "{},{},{},{},{},{},", event.instance, event.parent,
                           event.owner, event.forward, event.correlation, event.sequence);
            if (event.kind == Kind::counter) fmt::format_to(std::back_inserter(rows), "{}", event.value);
            rows += '\n';
        }
        return out_->put(rows);
    }
    Result<void> finish(const Trace&) override {
        VIRIDIAN_TRY(head());
        return out_->close();
    }

  private:
    Result<void> head() {
        if (std::exchange(headed_, true)) return {};
        return out_->put(
            "start_ns,end_ns,duration_ns,device,process,thread,kind,pass,name,type,path,instance,parent,"
            "owner,forward,"
            "correlation,sequence,value\n");
    }
    std::unique_ptr<Out> out_;
    bool headed_ = false;
};

}  // namespace

std::unique_ptr<Sink> csv_sink(std::unique_ptr<Out> out) { return std::make_unique<CsvSink>(std::move(out)); }

}  // namespace viridian::trace
