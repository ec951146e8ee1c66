#include "viridian/report/page.hpp"

#include "viridian/base/json.hpp"

#include "viridian/base/file.hpp"
#include "viridian/base/output_paths.hpp"
#include "viridian/cli/command.hpp"

namespace viridian::cli {
namespace {

struct ReportOptions {
    std::string result;
    std::string output;
};

Result<Answer> report(const ReportOptions& options) {
    VIRIDIAN_TRY(check_replaces_nothing({options.output}, {options.result}));
    VIRIDIAN_TRY(const std::string text, read_file(options.result));
    VIRIDIAN_TRY(const Json result, parse_json(text, options.result));
    VIRIDIAN_TRY(const std::string html, viridian::report::page(result));
    VIRIDIAN_TRY(write_file(options.output, html));
    return Answer{{{"schema", "viridian.report/1"}, {"page", options.output}},
                  fmt::format("wrote {}\n", options.output)};
}

}  // namespace

Command report_command() {
    return {"report", "The page again, from any saved result", "viridian report result.json -o page.html",
            [](App app) {
                auto options = std::make_shared<ReportOptions>();
                app.add_option("RESULT", options->result, "A result written by --json").required();
                app.add_option("-o,--output", options->output, "The page to write").required();
                return [options] { return report(*options); };
            }};
}

}  // namespace viridian::cli
