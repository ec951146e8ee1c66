#include "viridian/cli/train/written_model.hpp"

#include <algorithm>

#include "viridian/cli/train/task.hpp"
#include "viridian/data/categories.hpp"
#include "viridian/gradient/evaluation.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/session/session.hpp"

namespace viridian::cli {

Result<ReservedSpace> room_for_model(const TrainOptions& options) {
    VIRIDIAN_TRY(const graph::Graph original, onnx::load(options.model.model));
    VIRIDIAN_TRY(const train::NewHead begin, begun(options, original, {}));
    std::uint64_t constants = 0;
    for (std::size_t i = 0; i < begin.network.value_count(); ++i)
        if (const graph::Tensor* tensor = begin.network.constant(static_cast<graph::ValueId>(i)))
            constants += static_cast<std::uint64_t>(tensor->byte_count());
    std::error_code unknown;
    const std::uintmax_t file = std::filesystem::file_size(options.model.model, unknown);
    const std::uint64_t text = unknown ? 0 : std::uint64_t{file};
    return ReservedSpace::make(options.output, text < constants ? text + constants : text);
}

Result<WrittenVersions> write_trained(const TrainOptions& options, const data::Dataset& samples,
                                      const train::TrainResult& result) {
    VIRIDIAN_TRY(graph::Graph original, onnx::load(options.model.model));
    VIRIDIAN_TRY(const train::NewHead begin, begun(options, std::move(original), {}));
    VIRIDIAN_TRY(graph::Graph trained, gradient::with_weights(begin.network, result.weights));
    for (std::size_t i = 0; i < samples.columns();
         ++i)  // what the numbers of its inputs and labels stand for
        if (const data::Column& column = samples.column(i); !column.categories.empty())
            trained.metadata["viridian.categories." + column.name] = data::categories_text(column.categories);
    WrittenVersions versions;
    VIRIDIAN_TRY(versions.given, onnx::versions_of(options.model.model));
    const int opset =
        std::clamp(versions.given.opset, graph::oldest_operator_set, onnx::newest_written_opset);
    VIRIDIAN_TRY(onnx::save(trained, options.output, {.opset = opset}));
    VIRIDIAN_TRY(versions.written, onnx::versions_of(options.output));
    return versions;
}

Result<prove::Proof> prove_written(const Path& file, ModelOptions model, const train::Witness& witness) {
    model.model = file.string();
    model.batch = witness.batch;
    VIRIDIAN_TRY(session::LoadedModel loaded, session::load(model));
    const graph::Graph network = loaded.graph;
    std::vector<graph::Tensor> inputs;
    for (const graph::ValueId id : network.inputs()) {
        const auto found = witness.inputs.find(network.value(id).name);
        if (found == witness.inputs.end())
            return fail(ErrorCode::broken_invariant, "report it with the model",
                        "the written model has an input `{}` that the run did not have",
                        network.value(id).name);
        inputs.push_back(found->second);
    }
    VIRIDIAN_TRY(const session::Session made, session::prepare(std::move(loaded), model));
    prove::AllowedError allowed = prove::allowed_error(network, made.planned.graph, made.planned.plan);
    if (witness.winograd && allowed.error < prove::allowed_with_winograd)
        allowed = {prove::allowed_with_winograd, "the evaluation of the run used Winograd", {}};
    return prove::prove(network, {inputs}, {witness.outputs}, *made.planned.executable, allowed);
}

Result<void> check_proven(const prove::Proof& proof, const Path& file) {
    if (proof.passed()) return {};
    Path refused = file;
    refused.replace_extension(".differs.onnx");
    std::error_code fault;
    std::filesystem::rename(file, refused, fault);
    for (const prove::OutputAgreement& output : proof.outputs)
        if (!output.passed())
            return fail(ErrorCode::broken_invariant, "report it with the model; the weights are in the file",
                        "the written model gives other outputs than the evaluation of the run: `{}` has a "
                        "relative error of {:.2g}, and {:.2g} is allowed. It is kept as `{}`",
                        output.name, output.error, output.allowed, (fault ? file : refused).string());
    return {};
}

}  // namespace viridian::cli
