// `viridian optimize`: options in, files and text out. The work itself is optimize::optimize.
#include "viridian/optimize/optimize.hpp"

#include "viridian/base/json.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/model/files_read.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/model/model_tensors.hpp"
#include "viridian/cli/model/search_options.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/optimize/files/optimize_files.hpp"
#include "viridian/report/page.hpp"

namespace viridian::cli {
namespace {

struct OptimizeCommand {
    ModelOptions model;
    SearchOptions search;
    std::string output, record, recorded;  // files
    std::vector<std::string> inputs;       // files
};

Result<Answer> answer_of(const OptimizeCommand& command, optimize::Optimized result,
                         const optimize::OptimizeFiles& files) {
    result.model = Path(command.model.model).filename().string();
    Json json = result.to_json();
    json["files"] = files.json(result);
    VIRIDIAN_TRY(const std::string page, report::page(json));
    VIRIDIAN_TRY(files.write(result, page));
    std::string out = text(result);
    for (const auto& [key, name] : json["files"].items())
        out += fmt::format("  wrote    {}\n", name.get<std::string>());
    return Answer{std::move(json), std::move(out)};
}

// Prices come from a file: nothing is timed or run, and the plan is for the processor that they belong to.
Result<Answer> optimize_recorded(const OptimizeCommand& command, const optimize::OptimizeOptions& options,
                                 const optimize::OptimizeFiles& files, Listener& listener) {
    VIRIDIAN_TRY(optimize::RecordedCosts costs, optimize::RecordedCosts::open(command.recorded));
    ModelOptions options_of_model = command.model;
    options_of_model.runs = false;
    VIRIDIAN_TRY(const graph::Graph model, session::load_model(options_of_model, &listener));
    VIRIDIAN_TRY(optimize::Optimized result, optimize::optimize(model, costs, nullptr, options, listener));
    return answer_of(command, std::move(result), files);
}

Result<Answer> optimize_measured(const OptimizeCommand& command, optimize::OptimizeOptions options,
                                 const optimize::OptimizeFiles& files, Listener& listener) {
    const ModelOptions& model = command.model;
    listener.progress("reading the model");
    VIRIDIAN_TRY(const graph::Graph original, session::load_model(model, &listener));
    if (!command.inputs.empty()) {
        VIRIDIAN_TRY(options.inputs, model_input_sets(original, command.inputs));
    }
    options.bf16 = session::allows_bf16(model);
    options.exact_arithmetic = model.exact_arithmetic;
    options.reference = session::reference_cache(model);
    const execute::PinnedCaller pinned(model.pin);
    VIRIDIAN_TRY(const auto device, session::open_device(model));
    VIRIDIAN_TRY(cost::Database database, session::open_database(model));
    VIRIDIAN_TRY(const auto costs,
                 optimize::MeasuredCosts::open(*device, database, session::energy_options(model),
                                               session::allowances_text(model),
                                               optimize::tries_fewer_threads(options)));
    VIRIDIAN_TRY(optimize::Optimized result,
                 optimize::optimize(original, *costs, device.get(), options, listener));
    for (const cost::Residual& residual : result.residuals(model.model)) {
        VIRIDIAN_TRY(database.put_residual(residual));
    }
    return answer_of(command, std::move(result), files);
}

Result<Answer> run_optimize(const OptimizeCommand& command) {
    if (command.search.list_rules) return list_rules();
    if (command.model.model.empty() || command.output.empty())
        return fail(ErrorCode::invalid_argument, "write `viridian optimize MODEL.onnx -o OUT.onnx`",
                    "`optimize` needs a model and an output");
    std::vector<Path> reads = files_read(command.model, command.inputs);
    reads.emplace_back(command.recorded);
    VIRIDIAN_TRY(const auto files, optimize::OptimizeFiles::make(command.output, command.record,
                                                                 session::allows_bf16(command.model), reads));
    VIRIDIAN_TRY(optimize::OptimizeOptions options, parse(command.search));
    options.record = !command.record.empty();
    TerminalListener listener;
    return command.recorded.empty() ? optimize_measured(command, std::move(options), files, listener)
                                    : optimize_recorded(command, options, files, listener);
}

Result<void> refuse_beside_recorded(const App& app) {
    std::string given;
    for (const char* name :
         {"--allow", "--exact-arithmetic", "--max-error", "--inputs", "--seed", "--proofs", "--keep-original",
          "--meter", "--threads", "--region-threads", "--db", "--memory"})
        if (app.get_option(name).count() > 0) given += (given.empty() ? "" : ", ") + std::string(name);
    if (given.empty()) return {};
    return fail(ErrorCode::invalid_argument, "leave them out, or leave out --recorded",
                "`--recorded` times and runs nothing, so it cannot do as {} say", given);
}

}  // namespace

Command optimize_command() {
    return {
        "optimize",
        "A plan for a model on this machine, chosen by measured prices and compared with it on inputs",
        "viridian optimize resnet50.onnx -o resnet50.opt.onnx --objective energy", [](App app) {
            auto command = std::make_shared<OptimizeCommand>();
            add_model_options(app, command->model);
            add_type_option(app, command->model);
            add_cost_options(app, command->model);
            add_search_options(app, command->search);
            app.get_option("MODEL").required(false);  // --list-rules needs none
            app.add_option("-o,--output", command->output,
                           "The .onnx to write, in f32. Plan, certificate and page go beside it; and, if "
                           "the plan uses bf16, models in bf16");
            app.add_option("--recorded", command->recorded,
                           "Plan with the prices of this file, and time nothing (docs/cost.md)");
            app.add_option("--record", command->record, "Write the prices that the search asked for");
            app.add_option(
                "--inputs", command->inputs,
                "Files with inputs for calibration and proof: NAME=FILE, FILE or FOLDER of .npy or .pb; the "
                "k-th for an input is of set k (default: seeded ones)");
            return [command, app]() -> Result<Answer> {
                if (!command->recorded.empty()) VIRIDIAN_TRY(refuse_beside_recorded(app));
                return run_optimize(*command);
            };
        }};
}

}  // namespace viridian::cli
