// Follows a certificate from the original model, rule by rule, and compares what comes out with the optimised
// model: by structure where the file says the same graph, else by outputs on the reference kernels.
#include "viridian/base/json.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/prove/training.hpp"
#include "viridian/rewrite/certificate.hpp"

namespace viridian::cli {
namespace {

struct CheckOptions {
    ModelOptions model;
    std::string certificate;
    std::string optimized;  // "": the .onnx beside the certificate
    std::uint64_t seed = 1;
    bool strict = false;
};

constexpr double allowed = 1e-4;  // relative L2 between two exports on the reference kernels

Path model_beside(const std::string& certificate) {
    constexpr std::string_view suffix = ".certificate.json";
    return certificate.ends_with(suffix)
               ? Path(certificate.substr(0, certificate.size() - suffix.size()) + ".onnx")
               : Path();
}

Result<double> difference(const graph::Graph& replayed, const graph::Graph& optimized, std::uint64_t seed) {
    VIRIDIAN_TRY(const auto inputs, prove::seeded_inputs(replayed, seed));
    VIRIDIAN_TRY(const auto expected, prove::reference_outputs(replayed, {inputs}));
    VIRIDIAN_TRY(const auto got, prove::reference_outputs(optimized, {inputs}));
    if (expected[0].size() != got[0].size()) return std::numeric_limits<double>::infinity();
    VIRIDIAN_TRY(const std::vector<prove::ResultError> errors,
                 prove::result_errors(replayed, inputs, expected[0], got[0]));
    double worst = 0;
    for (const prove::ResultError& one : errors) worst = std::max(worst, one.error);
    return worst;
}

Result<Answer> check(CheckOptions options) {
    options.model.runs = false;  // unless the graphs differ
    VIRIDIAN_TRY(const std::string text, read_file(options.certificate));
    VIRIDIAN_TRY(const Json json, parse_json(text, options.certificate));
    VIRIDIAN_TRY(const rewrite::CertificateFile certificate, rewrite::certificate_of(json));
    VIRIDIAN_TRY(graph::Graph original, session::load_model(options.model));
    VIRIDIAN_TRY(const graph::Graph replayed, rewrite::replay_file(std::move(original), certificate));
    const std::size_t applications = certificate.applications.size();

    const Path file = options.optimized.empty() ? model_beside(options.certificate) : Path(options.optimized);
    Json result = {{"schema", "viridian.check/1"},
                   {"model", options.model.model},
                   {"applications", applications},
                   {"hash", fmt::format("{:016x}", structural_hash(replayed))}};
    std::string out =
        applications == 0
            ? fmt::format("no application of a rule to follow from {}: the certificate ends in that graph\n",
                          options.model.model)
            : fmt::format("{} applications of rules followed from {}: every hash agrees, the last included\n",
                          applications, options.model.model);
    if (file.empty() || (options.optimized.empty() && !std::filesystem::exists(file))) {
        result["optimized"] = nullptr;
        out += "no optimised model beside the certificate: name it with --optimized to compare it\n";
        return Answer{std::move(result), std::move(out)};
    }
    ModelOptions written = options.model;
    written.model = file.string();
    written.dimensions.clear();  // what `optimize` wrote has the sizes it was made for
    written.batch = 0;
    written.as.clear();
    VIRIDIAN_TRY(const graph::Graph optimized, session::load_model(written));
    VIRIDIAN_TRY(graph::Graph expected, onnx::as_written(replayed));
    VIRIDIAN_TRY(graph::infer_types(expected));
    const bool same = structural_hash(optimized) == structural_hash(expected);
    double error = 0;
    if (!same && options.strict)
        return fail(ErrorCode::mismatch, "leave --strict out to compare their outputs",
                    "{} is not the graph that the certificate makes of {}", file.string(),
                    options.model.model);
    if (!same) {
        VIRIDIAN_TRY(session::check_memory(replayed, options.model));
        VIRIDIAN_TRY(error, difference(replayed, optimized, options.seed));
        if (!(error <= allowed))
            return fail(ErrorCode::mismatch,
                        "name the model that was written with it, or optimise again with `viridian optimize`",
                        "{} is not what the certificate makes of {}: outputs differ by {:.1e}", file.string(),
                        options.model.model, error);
    }
    result["optimized"] = {{"file", file.string()},
                           {"same_graph", same},
                           {"compared", same ? "graphs" : "outputs"},
                           {"error", error}};
    out += same ? fmt::format("{} is that graph\n", file.string())
                : fmt::format(
                      "{} is not that graph by structure: only outputs were compared, on inputs of seed "
                      "{}, and agree within {:.1e} (relative L2, reference kernels)\n",
                      file.string(), options.seed, error);
    return Answer{std::move(result), std::move(out)};
}

}  // namespace

Command check_command() {
    return {"check", "Follows an optimised model's certificate from the original",
            "viridian check resnet50.onnx resnet50.opt.certificate.json", [](App app) {
                auto options = std::make_shared<CheckOptions>();
                add_model_options(app, options->model);
                add_type_option(app, options->model);
                app.add_option("CERTIFICATE", options->certificate, "What `optimize` wrote").required();
                app.add_option("--optimized", options->optimized,
                               "The optimised .onnx (default: the one beside the certificate)");
                app.add_option("--seed", options->seed, "Seed of the inputs on which outputs are compared")
                    .capture_default_str();
                app.add_flag("--strict", options->strict,
                             "Fail where the optimised model is not the certificate's graph, node by node");
                return [options] { return check(*options); };
            }};
}

}  // namespace viridian::cli
