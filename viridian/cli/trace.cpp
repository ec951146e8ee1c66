// `viridian trace show | convert | label`: what a trace holds, and the same trace in another format.
#include <memory>

#include "viridian/cli/commands.hpp"
#include "viridian/cli/subcommands.hpp"
#include "viridian/trace/binary.hpp"
#include "viridian/trace/label.hpp"
#include "viridian/trace/write.hpp"

namespace viridian::cli {
namespace {

struct Arguments {
    std::string input, output, by, to, spill;
    std::int64_t shift = 0;
    bool fast = false, kernels = false;
};

Result<std::unique_ptr<trace::Source>> open_input(const std::string& path, const Arguments& arguments,
                                                  std::int64_t shift) {
    trace::ReadOptions how;
    how.shift = shift;
    if (!arguments.spill.empty()) how.spill.folder = arguments.spill;
    return trace::open(path, how);
}

std::string plain_name(const std::string& path) {
    for (const std::string_view packed : {".gz", ".zst"})
        if (path.ends_with(packed)) return path.substr(0, path.size() - packed.size());
    return path;
}

std::string format_of(const Arguments& arguments) {
    if (!arguments.to.empty()) return arguments.to;
    const std::string name = plain_name(arguments.output);
    if (name.ends_with(".speedscope.json")) return "speedscope";
    if (name.ends_with(".json")) return "json";
    if (name.ends_with(".csv")) return "csv";
    if (name.ends_with(".folded")) return "folded";
    if (name.ends_with(".pb")) return "pprof";
    return "binary";
}

Result<void> write_profile(trace::Source& source, trace::Out& out, const std::string& format) {
    VIRIDIAN_TRY(const trace::Weights weights, trace::self_times(source));
    if (format == "folded") return trace::write_folded(out, source.about(), weights);
    if (format == "speedscope") return trace::write_speedscope(out, source.about(), {weights});
    return trace::write_pprof(out, source.about(), {weights});
}

Result<void> write(trace::Source& source, const Arguments& arguments) {
    const std::string format = format_of(arguments);
    VIRIDIAN_TRY(std::unique_ptr<trace::Out> out, trace::open_out(arguments.output));
    if (format == "folded" || format == "speedscope" || format == "pprof") {
        VIRIDIAN_TRY(write_profile(source, *out, format));
        return out->close();
    }
    const auto packing = arguments.fast ? trace::Packing::fast : trace::Packing::small;
    const std::unique_ptr<trace::Sink> sink = format == "json"  ? trace::json_sink(std::move(out))
                                              : format == "csv" ? trace::csv_sink(std::move(out))
                                                                : trace::binary_sink(std::move(out), packing);
    return trace::copy(source, *sink);
}

// What there is to say once everything was read.
Answer describe(const trace::Trace& about) {
    Answer answer;
    const double seconds = 1e-9 * static_cast<double>(about.end - about.begin);
    answer.json = {{"schema", "viridian.trace/1"},
                   {"format", about.format},
                   {"source", about.source},
                   {"events", about.events},
                   {"lost_events", about.lost_events},
                   {"unowned", about.unowned},
                   {"begin_ns", about.begin},
                   {"seconds", seconds},
                   {"names", about.names.size() - 1},
                   {"paths", about.paths.size() - 1},
                   {"devices", about.devices},
                   {"warnings", Json::array()},
                   {"clock", about.clock.zero == trace::Clock::Zero::unix_epoch ? "unix" : "relative"}};
    answer.text = fmt::format("{}: {} events in {:.3f} s, {} lanes, {} names{}\n", about.format, about.events,
                              seconds, about.lanes.size(), about.names.size() - 1,
                              about.clock.zero == trace::Clock::Zero::unix_epoch ? "" : ", relative time");
    if (about.unowned > 0) answer.text += fmt::format("{} kernels have no known operator\n", about.unowned);
    for (const trace::Warning& warning : about.warnings) {
        answer.json["warnings"].push_back({{"what", warning.what}, {"count", warning.count}});
        answer.text += fmt::format("warning: {} ({})\n", warning.what, warning.count);
    }
    return answer;
}

Answer written(const trace::Trace& about, const Arguments& arguments) {
    Answer answer = describe(about);
    std::error_code fault;
    const std::uintmax_t bytes = std::filesystem::file_size(arguments.output, fault);
    answer.json["output"] = arguments.output;
    answer.json["bytes"] = bytes;
    answer.text += fmt::format(
        "wrote {}: {} bytes, {:.2f} an event\n", arguments.output, bytes,
        static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(about.events, 1)));
    return answer;
}

Result<Answer> show(const Arguments& arguments) {
    VIRIDIAN_TRY(const auto source, open_input(arguments.input, arguments, arguments.shift));
    std::array<std::uint64_t, trace::kind_count> kinds{};
    std::array<std::int64_t, trace::kind_count> time{};
    for (;;) {
        VIRIDIAN_TRY(const std::span<const trace::Event> batch, source->next());
        if (batch.empty()) break;
        for (const trace::Event& event : batch) {
            ++kinds[static_cast<std::size_t>(event.kind)];
            time[static_cast<std::size_t>(event.kind)] += event.duration();
        }
    }
    Answer answer = describe(source->about());
    answer.json["kinds"] = Json::object();
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] > 0) {
            const std::string_view name = name_of(static_cast<trace::Kind>(i));
            const double seconds = 1e-9 * static_cast<double>(time[i]);
            answer.json["kinds"][std::string(name)] = {{"count", kinds[i]}, {"seconds", seconds}};
            answer.text += fmt::format("  {:<10} {:>10} {:>12.6f} s\n", name, kinds[i], seconds);
        }
    return answer;
}

Result<Answer> convert(const Arguments& arguments) {
    VIRIDIAN_TRY(auto source, open_input(arguments.input, arguments, arguments.shift));
    if (arguments.kernels) source = trace::kernels_of(std::move(source));
    VIRIDIAN_TRY(write(*source, arguments));
    return written(source->about(), arguments);
}

Result<Answer> label(const Arguments& arguments) {
    VIRIDIAN_TRY(const auto full, open_input(arguments.by, arguments, 0));
    VIRIDIAN_TRY(trace::Pattern pattern, trace::pattern_of(*full));
    VIRIDIAN_TRY(auto plain, open_input(arguments.input, arguments, arguments.shift));
    const auto source = trace::labelled(std::move(plain), std::move(pattern));
    VIRIDIAN_TRY(write(*source, arguments));
    return written(source->about(), arguments);
}

void define_input(CLI::App& app, Arguments& arguments) {
    app.add_option("IN", arguments.input, "Trace of any known format (docs/trace.md)")->required();
    app.add_option("--shift", arguments.shift, "Nanoseconds added to every time");
    app.add_option("--spill", arguments.spill, "Folder for sorting what does not fit in memory");
}

void define_output(CLI::App& app, Arguments& arguments) {
    app.add_option("OUT", arguments.output,
                   "By its name: .json, .csv, .folded, .speedscope.json, .pb (pprof), else our binary")
        ->required();
    app.add_option("--to", arguments.to, "The format, whatever the name")
        ->check(CLI::IsMember({"binary", "json", "csv", "folded", "speedscope", "pprof"}));
    app.add_flag("--fast", arguments.fast, "Binary: pack quickly, not small");
}

Action define_show(CLI::App& app) {
    const auto arguments = std::make_shared<Arguments>();
    define_input(app, *arguments);
    return [arguments] { return show(*arguments); };
}

Action define_convert(CLI::App& app) {
    const auto arguments = std::make_shared<Arguments>();
    define_input(app, *arguments);
    define_output(app, *arguments);
    app.add_flag("--kernels", arguments->kernels, "The accelerator's work alone, by its own names");
    return [arguments] { return convert(*arguments); };
}

Action define_label(CLI::App& app) {
    const auto arguments = std::make_shared<Arguments>();
    define_input(app, *arguments);
    define_output(app, *arguments);
    app.add_option("--by", arguments->by, "A few steps of the same program, with operators and modules")
        ->required();
    return [arguments] { return label(*arguments); };
}

}  // namespace

Command trace_command() {
    return {"trace", "What a trace holds, and the same trace in another format",
            "viridian trace show run.pt.trace.json.gz\n"
            "  viridian trace convert run.pt.trace.json.gz run.vtrace\n"
            "  viridian trace label kernels.vtrace labelled.vtrace --by steps.pt.trace.json.gz",
            [](CLI::App& app) {
                return choose(
                    app,
                    {{"show", "Counts its events, devices and warnings", "", define_show},
                     {"convert", "Writes it in another format", "", define_convert},
                     {"label", "Gives kernels recorded alone the modules and operators of a full recording",
                      "", define_label}});
            }};
}

}  // namespace viridian::cli
