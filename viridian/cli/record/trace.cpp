// `viridian trace show | convert | label`: what a trace holds, and the same trace in another format.
#include <memory>

#include "viridian/base/json.hpp"
#include "viridian/base/output_paths.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/subcommands.hpp"
#include "viridian/trace/join/label.hpp"
#include "viridian/trace/write/output_format.hpp"

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

// The format that `--to` names, else the one of the output's name.
Result<trace::OutputFormat> output_format(const Arguments& arguments) {
    if (!arguments.to.empty()) return trace::format_called(arguments.to);
    Result<trace::OutputFormat> format = trace::format_of_name(arguments.output);
    if (format.ok()) return format;
    Error error = std::move(format).error();
    error.next_step += "; or name the format by --to";
    return error;
}

Result<void> write(trace::Source& source, const Arguments& arguments, trace::OutputFormat format) {
    return trace::write_as(source, arguments.output, format,
                           arguments.fast ? trace::Packing::fast : trace::Packing::small);
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
    answer.text =
        fmt::format("{}: {} in {:.3f} s, {}, {}{}\n", about.format, counted(about.events, "event"), seconds,
                    counted(about.lanes.size(), "lane"), counted(about.names.size() - 1, "name"),
                    about.clock.zero == trace::Clock::Zero::unix_epoch ? "" : ", relative time");
    if (about.unowned > 0)
        answer.text += fmt::format("{} {} no known operator\n", counted(about.unowned, "kernel"),
                                   about.unowned == 1 ? "has" : "have");
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
    VIRIDIAN_TRY(const trace::OutputFormat format, output_format(arguments));
    VIRIDIAN_TRY(check_replaces_nothing({arguments.output}, {arguments.input}));
    VIRIDIAN_TRY(auto source, open_input(arguments.input, arguments, arguments.shift));
    if (arguments.kernels) source = trace::kernels_of(std::move(source));
    VIRIDIAN_TRY(write(*source, arguments, format));
    return written(source->about(), arguments);
}

Result<Answer> label(const Arguments& arguments) {
    VIRIDIAN_TRY(const trace::OutputFormat format, output_format(arguments));
    VIRIDIAN_TRY(check_replaces_nothing({arguments.output}, {arguments.input, arguments.by}));
    VIRIDIAN_TRY(const auto full, open_input(arguments.by, arguments, 0));
    VIRIDIAN_TRY(trace::Pattern pattern, trace::pattern_of(*full));
    VIRIDIAN_TRY(auto plain, open_input(arguments.input, arguments, arguments.shift));
    const auto source = trace::labelled(std::move(plain), std::move(pattern));
    VIRIDIAN_TRY(write(*source, arguments, format));
    return written(source->about(), arguments);
}

void define_input(App app, Arguments& arguments) {
    app.add_option("IN", arguments.input, "Trace of any known format (docs/trace.md)").required();
    app.add_option("--shift", arguments.shift, "Nanoseconds added to every time");
    app.add_option("--spill", arguments.spill, "Folder for sorting what does not fit in memory");
}

void define_output(App app, Arguments& arguments) {
    app.add_option("OUT", arguments.output,
                   "By its name: .vtrace (our binary), .json (Perfetto), .csv, .folded, .speedscope.json, "
                   ".pb (pprof)")
        .required();
    app.add_option("--to", arguments.to, "The format, whatever the name")
        .check(one_of(trace::output_format_names()));
    app.add_flag("--fast", arguments.fast, "Binary: pack quickly, not small");
}

Action define_show(App app) {
    const auto arguments = std::make_shared<Arguments>();
    define_input(app, *arguments);
    return [arguments] { return show(*arguments); };
}

Action define_convert(App app) {
    const auto arguments = std::make_shared<Arguments>();
    define_input(app, *arguments);
    define_output(app, *arguments);
    app.add_flag("--kernels", arguments->kernels, "The accelerator's work alone, by its own names");
    return [arguments] { return convert(*arguments); };
}

Action define_label(App app) {
    const auto arguments = std::make_shared<Arguments>();
    define_input(app, *arguments);
    define_output(app, *arguments);
    app.add_option("--by", arguments->by, "A few steps of the same program, with operators and modules")
        .required();
    return [arguments] { return label(*arguments); };
}

}  // namespace

Command trace_command() {
    return {"trace", "What a trace holds, and the same trace in another format",
            "viridian trace show run.pt.trace.json.gz\n"
            "  viridian trace convert run.pt.trace.json.gz run.vtrace\n"
            "  viridian trace label kernels.vtrace labelled.vtrace --by steps.pt.trace.json.gz",
            [](App app) {
                return choose(
                    app,
                    {{"show", "Counts its events, devices and warnings", "", define_show},
                     {"convert", "Writes it in another format", "", define_convert},
                     {"label", "Gives kernels recorded alone the modules and operators of a full recording",
                      "", define_label}});
            }};
}

}  // namespace viridian::cli
