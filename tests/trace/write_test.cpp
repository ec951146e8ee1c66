#include "viridian/trace/write/write.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"
#include "viridian/trace/binary/varint.hpp"
#include "viridian/trace/read.hpp"
#include "viridian/trace/write/output_format.hpp"

namespace viridian::trace {
namespace {

// Two layers, a kernel, a backward operator, a counter.
Collected small() {
    Trace about;
    about.format = "test";
    about.source = "small \"trace\"";
    const LaneId thread = about.lane(about.device("cpu:0"), 10, 11);
    const LaneId stream = about.lane(about.device("cuda:0"), 10, 7);
    const auto make = [&](Nanoseconds start, Nanoseconds end, std::string_view name, Kind kind, LaneId lane) {
        Event event;
        event.start = 1'700'000'000'000'000'000 + start;
        event.end = 1'700'000'000'000'000'000 + end;
        event.name = about.names.add(name);
        event.kind = kind;
        event.lane = lane;
        event.device = about.lanes[lane].device;
        return event;
    };
    std::vector<Event> events = {make(0, 9'000, "layer;0", Kind::module, thread),
                                 make(1'000, 5'000, "MatMul", Kind::operation, thread),
                                 make(2'000, 3'500, "Cast, \"fp16\"", Kind::operation, thread),
                                 make(4'000, 8'250, "gemm", Kind::kernel, stream),
                                 make(6'000, 7'000, "MatMulGrad", Kind::operation, thread),
                                 make(8'000, 8'000, "power", Kind::counter, thread)};
    events[4].pass = Pass::backward;
    events[5].value = 12.5;
    return collect(*from_memory(about, events)).value();
}

std::unique_ptr<Source> source_of(const Collected& trace) { return from_memory(trace.about, trace.events); }

std::string written(Source& source, const std::function<std::unique_ptr<Sink>(std::unique_ptr<Out>)>& make) {
    std::string text;
    const auto sink = make(out_to(text));
    EXPECT_TRUE(copy(source, *sink).ok());
    return text;
}

TEST(WriteCsv, OneRowPerEvent) {
    const Collected trace = small();
    EXPECT_EQ(
        written(*source_of(trace), csv_sink),
        "start_ns,end_ns,duration_ns,device,process,thread,kind,pass,name,type,path,instance,parent,owner,"
        "forward,correlation,"
        "sequence,value\n"
        "1700000000000000000,1700000000000009000,9000,cpu:0,10,11,module,,layer;0,layer;0,layer;0,1,0,0,0,0,-"
        "1,\n"
        "1700000000000001000,1700000000000005000,4000,cpu:0,10,11,operation,,MatMul,MatMul,layer;0/"
        "MatMul,2,1,0,0,0,-1,\n"
        "1700000000000002000,1700000000000003500,1500,cpu:0,10,11,operation,,\"Cast, \"\"fp16\"\"\",\"Cast, "
        "\"\"fp16\"\"\",\"layer;0/MatMul/Cast, \"\"fp16\"\"\",3,2,0,0,0,-1,\n"
        "1700000000000004000,1700000000000008250,4250,cuda:0,10,7,kernel,,gemm,gemm,gemm,4,0,0,0,0,-1,\n"
        "1700000000000006000,1700000000000007000,1000,cpu:0,10,11,operation,backward,MatMulGrad,MatMulGrad,"
        "layer;0/MatMulGrad,5,1,0,0,0,-1,\n"
        "1700000000000008000,1700000000000008000,0,cpu:0,10,11,counter,,power,power,layer;0,6,1,0,0,0,-1,12."
        "5\n");
}

TEST(WriteFolded, SelfTimeByDeviceAndPass) {
    const Collected trace = small();
    const Weights weights = self_times(*source_of(trace)).value();
    std::string text;
    ASSERT_TRUE(write_folded(*out_to(text), trace.about, weights).ok());
    EXPECT_EQ(text,
              "cpu:0;layer:0;MatMul;Cast, \"fp16\" 1500\n"
              "cpu:0;layer:0;MatMul 2500\n"
              "cpu:0;backward;layer:0;MatMulGrad 1000\n"
              "cuda:0;gemm 4250\n");
}

TEST(WriteSpeedscope, IsTheirSchema) {
    const Collected trace = small();
    const Weights weights = self_times(*source_of(trace)).value();
    Weights energy = weights;
    energy.what = "energy";
    energy.unit = "microjoules";
    std::string text;
    ASSERT_TRUE(write_speedscope(*out_to(text), trace.about, {weights, energy}).ok());
    const Json json = parse_json(text, "speedscope").value();
    EXPECT_EQ(json["$schema"], "https://www.speedscope.app/file-format-schema.json");
    EXPECT_EQ(json["name"], "small \"trace\"");
    ASSERT_EQ(json["profiles"].size(), 2U);
    const Json& time = json["profiles"][0];
    EXPECT_EQ(time["unit"], "nanoseconds");
    EXPECT_EQ(json["profiles"][1]["unit"], "none");
    EXPECT_EQ(time["endValue"], 9250.0);
    ASSERT_EQ(time["samples"].size(), time["weights"].size());
    std::string leaf = json["shared"]["frames"][time["samples"][0].back().get<std::size_t>()]["name"];
    EXPECT_EQ(leaf, "Cast, \"fp16\"");
    EXPECT_EQ(time["weights"][0], 1500.0);
}

// The fields of one message: number, and varint or bytes.
std::vector<std::pair<std::uint64_t, std::string>> fields(std::string_view bytes) {
    std::vector<std::pair<std::uint64_t, std::string>> all;
    Cursor in(bytes);
    while (!in.done()) {
        const std::uint64_t tag = in.varint();
        all.emplace_back(tag >> 3U, (tag & 7U) == 2 ? std::string(in.text()) : std::to_string(in.varint()));
        EXPECT_TRUE((tag & 7U) == 0 || (tag & 7U) == 2);
        EXPECT_FALSE(in.failed());
    }
    return all;
}

TEST(WritePprof, SamplesLeadThroughLocationsToNames) {
    const Collected trace = small();
    const Weights weights = self_times(*source_of(trace)).value();
    std::string bytes;
    ASSERT_TRUE(write_pprof(*out_to(bytes), trace.about, {weights}).ok());
    std::vector<std::string> strings, samples;
    std::map<std::string, std::string> function_name, location_function;
    for (const auto& [number, value] : fields(bytes)) {
        if (number == 6) strings.push_back(value);
        if (number == 2) samples.push_back(value);
        if (number == 5) function_name[fields(value)[0].second] = fields(value)[1].second;
        if (number == 4)
            location_function[fields(value)[0].second] = fields(fields(value)[1].second)[0].second;
        EXPECT_TRUE(number != 9 || value == "1700000000000000000");
    }
    ASSERT_FALSE(strings.empty());
    EXPECT_EQ(strings[0], "");
    std::string text;
    for (const std::string& sample : samples) {
        const auto parts = fields(sample);
        Cursor locations(parts[0].second), numbers(parts[1].second);
        while (!locations.done())
            text += strings.at(std::stoul(
                        function_name.at(location_function.at(std::to_string(locations.varint()))))) +
                    "<";
        text += std::to_string(numbers.varint()) + "\n";
    }
    EXPECT_EQ(text,
              "MatMul<layer;0<cpu:0<2500\nCast, \"fp16\"<MatMul<layer;0<cpu:0<1500\n"
              "MatMulGrad<layer;0<backward<cpu:0<1000\ngemm<cuda:0<4250\n");
}

std::string all_fields(const Collected& trace, const Event& event) {
    const Trace& about = trace.about;
    const Lane& lane = about.lanes[event.lane];
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", event.start, event.end,
                       event.instance, event.parent, event.owner, event.forward, event.depth,
                       about.names[event.name], about.names[event.type], about.qualified(event.path),
                       about.qualified(event.scope), name_of(event.kind), name_of(event.pass),
                       about.devices[event.device], lane.process, lane.thread, event.value);
}

void expect_same_fields(const Collected& a, const Collected& b) {
    ASSERT_EQ(a.events.size(), b.events.size());
    for (std::size_t i = 0; i < a.events.size(); ++i)
        ASSERT_EQ(all_fields(a, a.events[i]), all_fields(b, b.events[i]));
    EXPECT_EQ(a.about.edges.size(), b.about.edges.size());
    EXPECT_EQ(a.about.unowned, b.about.unowned);
    EXPECT_EQ(a.about.format, b.about.format);
    EXPECT_EQ(a.about.clock.zero, b.about.clock.zero);
}

TEST(WriteJson, OurOwnReaderReadsItBack) {
    const Collected trace = small();
    const std::string text = written(*source_of(trace), [](auto out) { return json_sink(std::move(out)); });
    const Json json = parse_json(text, "json").value();
    EXPECT_EQ(json["traceEvents"].size(), 6U + 2 + 2 + 1);  // events, processes, threads, the end
    const auto again = collect(**open_text(text, "again"));
    expect_same_fields(trace, *again);
    EXPECT_TRUE(again->about.warnings.empty());
}

TEST(WriteJson, EveryRealTraceComesBack) {
    for (const auto& file :
         std::filesystem::directory_iterator(tests::source_folder() / "tests/data/traces")) {
        if (file.path().extension() == ".md") continue;
        SCOPED_TRACE(file.path().filename().string());
        const Collected whole = collect(**open(file.path())).value();
        const std::string text =
            written(**open(file.path()), [](auto out) { return json_sink(std::move(out)); });
        const auto again = collect(**open_text(text, "again"));
        ASSERT_TRUE(again.ok());
        expect_same_fields(whole, *again);
    }
}

TEST(WriteJson, CounterTracksAndEnergyAreDrawn) {
    const Collected trace = small();
    JsonExtras extras;
    extras.tracks = {
        {"cuda:0 power", "W", {{1'700'000'000'000'001'500, 312.5}, {1'700'000'000'000'002'000, 300.0}}}};
    extras.microjoules = [](const Event& event) { return event.kind == Kind::kernel ? 7.25 : -1.0; };
    const std::string text =
        written(*source_of(trace), [&](auto out) { return json_sink(std::move(out), extras); });
    EXPECT_NE(text.find(R"({"ph":"C","name":"cuda:0 power","pid":1,"ts":1.500,"args":{"W":312.5}})"),
              std::string::npos);
    EXPECT_NE(text.find(R"("energy_uj":7.250)"), std::string::npos);
    const auto again = collect(**open_text(text, "again"));
    EXPECT_EQ(again->events.size(), 8U);
    EXPECT_TRUE(again->about.warnings.empty());
}

TEST(OutputFormat, EveryFormatIsWrittenToAFileByItsName) {
    const viridian::tests::TemporaryFolder folder;
    const Collected trace = small();
    for (const char* name : {"a.vtrace", "a.json", "a.csv", "a.folded", "a.speedscope.json", "a.pb",
                             "a.pb.gz", "a.json.gz", "a.folded.zst"}) {
        const auto format = format_of_name(folder / name);
        ASSERT_TRUE(format.ok()) << name;
        const auto wrote = write_as(*source_of(trace), folder / name, *format);
        EXPECT_TRUE(wrote.ok()) << name << ": " << wrote.error().text();
        EXPECT_GT(std::filesystem::file_size(folder / name), 50U) << name;
    }
    EXPECT_EQ(*format_of_name("b.speedscope.json.gz"), OutputFormat::speedscope);
    for (const std::string& name : output_format_names()) EXPECT_TRUE(format_called(name).ok()) << name;
}

TEST(OutputFormat, UnknownNamesAreRefusedWithTheKnownOnes) {
    for (const char* name : {"x.pftrace", "x", "x.gz", "folded", "x.pt"}) {
        const auto format = format_of_name(name);
        ASSERT_FALSE(format.ok()) << name;
        EXPECT_EQ(format.error().code, ErrorCode::invalid_argument);
        EXPECT_NE(format.error().next_step.find(".speedscope.json"), std::string::npos);
    }
    EXPECT_EQ(format_called("perfetto").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace viridian::trace
