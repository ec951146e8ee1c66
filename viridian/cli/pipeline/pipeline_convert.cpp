// `viridian pipeline convert`: plans and layouts from one trainer's words to another's.
#include <algorithm>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/formats/megatron_layout.hpp"
#include "viridian/pipeline/runnable.hpp"

namespace viridian::cli {
namespace {

struct ConvertOptions {
    std::string input, from, to, output;
};

constexpr std::string_view layout = "megatron-layout", stages = "stages";

// A layout has no schedule: it converts to and from the list of stages only.
Result<pipeline::Written> convert_layout(const ConvertOptions& o, const std::string& text) {
    if (o.from == layout) {
        VIRIDIAN_TRY(const std::vector<std::string> list, pipeline::read_megatron_layout(text));
        if (o.to == layout) return pipeline::Written{pipeline::write_megatron_layout(list) + "\n", {}};
        Json json = {{"schema", "viridian.pipeline-stages/1"}, {"stages", Json::array()}};
        for (const std::string& stage : list) json["stages"].push_back(stage);
        return pipeline::Written{json_dump(json, 1) + "\n", {}};
    }
    VIRIDIAN_TRY(const Json json, parse_json(text, o.input));
    std::vector<std::string> list;
    if (!json.is_object() || !json.contains("stages") || !json["stages"].is_array())
        return fail(ErrorCode::malformed, "write {\"stages\": [\"Et*2\", ...]}", "`{}` has no list `stages`",
                    o.input);
    for (const Json& stage : json["stages"]) {
        if (!stage.is_string())
            return fail(ErrorCode::malformed, "a stage is its layers' letters", "`{}`: a stage is no text",
                        o.input);
        VIRIDIAN_TRY(const std::vector<std::string> one,
                     pipeline::read_megatron_layout(stage.get<std::string>()));
        if (one.size() != 1)
            return fail(ErrorCode::malformed, "leave out `|`", "`{}`: a stage holds several", o.input);
        list.push_back(one[0]);
    }
    return pipeline::Written{pipeline::write_megatron_layout(list) + "\n", {}};
}

Result<pipeline::Written> convert(const ConvertOptions& o, std::vector<std::string>& dropped) {
    VIRIDIAN_TRY(const std::string text, read_file(o.input, std::uint64_t{1} << 28));
    const bool layouts = (o.from == layout || o.from == stages) && (o.to == layout || o.to == stages);
    if (layouts) return convert_layout(o, text);
    VIRIDIAN_TRY(const pipeline::FormatRow from, pipeline::find_format(o.from));
    VIRIDIAN_TRY(const pipeline::FormatRow to, pipeline::find_format(o.to));
    VIRIDIAN_TRY(const pipeline::Read read, from.read(text, o.input));
    VIRIDIAN_TRY(check_runnable(read.plan.schedule));
    dropped = read.dropped;
    return to.write(read.plan);
}

Result<Answer> run(const ConvertOptions& o) {
    std::vector<std::string> dropped;
    VIRIDIAN_TRY(const pipeline::Written written, convert(o, dropped));
    Answer answer;
    answer.json = {{"schema", "viridian.pipeline-convert/1"},
                   {"from", o.from},
                   {"to", o.to},
                   {"dropped", dropped},
                   {"lost", written.lost}};
    if (o.output.empty()) {
        answer.json["text"] = written.text;
        answer.text = written.text;
        return answer;
    }
    VIRIDIAN_TRY(write_file(o.output, written.text));
    answer.json["output"] = o.output;
    answer.text = fmt::format("wrote {}\n", o.output);
    for (const std::string& one : dropped) answer.text += "  dropped: " + one + "\n";
    for (const std::string& one : written.lost) answer.text += "  lost: " + one + "\n";
    return answer;
}

}  // namespace

Subcommand pipeline_convert_subcommand() {
    return {
        "convert",
        "Plans between trainers: PyTorch, Zeus, Megatron-LM, DeepSpeed, JSON; says what a format cannot hold",
        "viridian pipeline convert plan.json --from json --to pytorch -o schedule.csv",
        [](App app) -> Action {
            const auto o = std::make_shared<ConvertOptions>();
            std::string names;
            for (const pipeline::FormatRow& row : pipeline::formats())
                names += fmt::format("\n  {:<16} {}", row.name, row.summary);
            names +=
                "\n  megatron-layout  Megatron-LM pipeline layout string (only to and from `stages`)"
                "\n  stages           JSON list of a layout's stages";
            app.add_option("input", o->input, "File to read").required();
            app.add_option("--from", o->from, "Its format:" + names).required();
            app.add_option("--to", o->to, "The format to write").required();
            app.add_option("-o,--output", o->output, "File to write (otherwise stdout)");
            return [o] { return run(*o); };
        }};
}

}  // namespace viridian::cli
