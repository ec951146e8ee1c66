#include "viridian/report/page.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>

#include "viridian/report/assets.hpp"
#include "viridian/report/pipeline_picture.hpp"

namespace viridian::report {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

// JSON inside a script element: "</" and "<!--" must not appear, and every byte must be valid UTF-8.
std::string script_json(const Json& json) {
    std::string out;
    for (const char c : json_dump(json, -1))
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    return out;
}

struct View {
    std::string_view schema;
    std::string_view title;
    std::string_view body;
    std::string_view script;
    std::string_view fields;  // that the script reads
};

// Every kind of result that has a page.
constexpr View views[] = {
    {"viridian.optimize/1", "optimised", "optimize.html", "optimize.js",
     "model device objective meter baseline optimized assignment rewrites layers"},
    {"viridian.account/2", "energy accounting", "account.html", "account.js",
     "trace power sharing devices operations"},
    {"viridian.account-top/1", "largest consumers", "account_study.html", "account_study.js",
     "total runs whiskers entries names"},
    {"viridian.account-epochs/1", "power of an epoch", "account_study.html", "account_study.js",
     "epochs trace power bounds devices"},
    {"viridian.account-diff/1", "run against run", "account_study.html", "account_study.js",
     "totals energy_correlation power_correlation common matrix changes"},
    {"viridian.account-overhead/1", "cost of recording", "account_study.html", "account_study.js",
     "command runs meter time_percent energy_percent"},
    {"viridian.train/1", "training run", "train.html", "train.js",
     "model file steps parameters epochs curve energy"},
    {"viridian.pipeline-plan/1", "pipeline plan", "pipeline.html", "pipeline.js",
     "schedule_name stages micro_batches provenance"},
    {"viridian.pipeline-frontier/1", "pipeline frontier", "pipeline.html", "pipeline.js",
     "schedule_name stages micro_batches provenance frontier"},
};

// A plan's schedule, a frontier, or both, drawn.
Result<Json> with_pipeline_pictures(const Json& result) {
    Json drawn = result;
    if (result.contains("frontier")) {
        VIRIDIAN_TRY(drawn["pictures"]["frontier"], frontier_picture(result));
    }
    if (result.contains("schedule")) {
        auto picture = schedule_picture(result);
        if (!picture.ok() && picture.error().code != ErrorCode::limit_exceeded)
            return std::move(picture).error();
        if (picture.ok()) drawn["pictures"]["schedule"] = *picture;
    }
    return drawn;
}

Result<void> check_fields(const View& view, const Json& result) {
    for (std::string_view rest = view.fields; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view field = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!result.contains(field))
            return fail(ErrorCode::malformed, "give the whole file that was written with --json",
                        "the result says {} but has no `{}`", view.schema, field);
    }
    return {};
}

}  // namespace

std::string assemble_page(std::string_view title, std::string_view body_asset, std::string_view script_asset,
                          const Json& result) {
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
           escaped(title) + "</title>\n";
    out += "<style>\n" + std::string(asset("page.css")) + "</style>\n</head>\n<body>\n";
    out += asset(body_asset);
    out += "<script>\nconst result = " + script_json(result) + ";\n";
    out += asset("page.js");
    out += asset(script_asset);
    return out + "</script>\n</body>\n</html>\n";
}

Result<std::string> page(const Json& result) {
    const auto schema = result.is_object() && result.contains("schema") && result["schema"].is_string()
                            ? result["schema"].get<std::string>()
                            : std::string();
    for (const View& view : views)
        if (view.schema == schema) {
            VIRIDIAN_TRY(check_fields(view, result));
            const auto model = result.contains("model") && result["model"].is_string()
                                   ? result["model"].get<std::string>()
                                   : "result";
            if (!schema.starts_with("viridian.pipeline-"))
                return assemble_page(fmt::format("{} {}", model, view.title), view.body, view.script, result);
            VIRIDIAN_TRY(const Json drawn, with_pipeline_pictures(result));
            return assemble_page(view.title, view.body, view.script, drawn);
        }
    constexpr auto next_step =
        "give what `optimize`, `train`, `account`, `pipeline plan` or `pipeline frontier` wrote with --json";
    if (schema.empty()) return fail(ErrorCode::unsupported, next_step, "the file names no schema");
    return fail(ErrorCode::unsupported, next_step, "there is no page for the schema `{}`", schema);
}

}  // namespace viridian::report
