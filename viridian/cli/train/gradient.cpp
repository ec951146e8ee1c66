// Writes the training step of a model: forward pass, loss, gradients and updates as one graph.
#include <memory>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/model/files_read.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/train/step_options.hpp"
#include "viridian/gradient/training_metadata.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/session/session.hpp"

namespace viridian::cli {
namespace {

struct GradientOptions {
    ModelOptions model;
    StepChoice step;
    std::string output;
    bool accumulate = false;
};

std::int64_t elements(const graph::Graph& graph, graph::StateRole role) {
    std::int64_t count = 0;
    for (const graph::State& state : graph.states())
        if (state.role == role) count += graph::element_count(graph.value(state.before).type.dims()).value();
    return count;
}

// Says how many nodes of each phase a graph has, and what goes in and comes out.
Answer describe_graph(const graph::Graph& graph, const std::string& file) {
    std::map<graph::Phase, std::int64_t> nodes;
    for (const graph::NodeId id : graph.nodes()) ++nodes[graph.node(id).phase];
    Answer answer;
    answer.json = {{"file", file},
                   {"elements",
                    {{"parameters", elements(graph, graph::StateRole::parameter)},
                     {"moments", elements(graph, graph::StateRole::moment)}}},
                   {"nodes", Json::object()},
                   {"inputs", Json::object()},
                   {"outputs", Json::object()}};
    answer.text = fmt::format("wrote {}: {} nodes (", file, graph.nodes().size());
    std::string phases;
    for (const graph::Phase phase :
         {graph::Phase::forward, graph::Phase::backward, graph::Phase::weight, graph::Phase::update}) {
        answer.json["nodes"][name_of(phase)] = nodes[phase];
        phases += fmt::format("{}{} {}", phases.empty() ? "" : ", ", nodes[phase], name_of(phase));
    }
    answer.text += phases + ")\n";
    const auto tell = [&](const char* key, const char* what, graph::ValueId id) {
        const graph::Value& value = graph.value(id);
        answer.json[key][value.name] = text(value.type);
        answer.text += fmt::format("  {:<7} {:<24} {}\n", what, value.name, text(value.type));
    };
    for (const graph::ValueId id : graph.inputs()) tell("inputs", "input", id);
    for (const graph::ValueId id : graph.outputs()) tell("outputs", "output", id);
    return answer;
}

// Says what a step trains. `moments`: how many elements its optimiser keeps.
Answer describe_step(const GradientOptions& options, const gradient::Step& step, std::int64_t moments) {
    Answer answer;
    answer.json = {{"schema", "viridian.gradient/1"}, {"model", options.model.model},
                   {"loss", options.step.loss},       {"optimizer", options.step.optimizer},
                   {"parameters", Json::array()},     {"frozen", step.frozen},
                   {"statistics", step.statistics}};
    for (const gradient::Trained& trained : step.parameters)
        answer.json["parameters"].push_back(
            {{"name", trained.name}, {"decay", trained.decay}, {"moments", trained.moments}});
    answer.text = fmt::format("  trained {} of {} parameter tensors, {} elements; {} elements of moments\n",
                              step.parameters.size(), step.parameters.size() + step.frozen.size(),
                              elements(step.graph, graph::StateRole::parameter), moments);
    return answer;
}

// One file: the step. `text` puts what it trains behind the first line.
Answer describe(const GradientOptions& options, const gradient::Step& step) {
    const Answer graph = describe_graph(step.graph, options.output);
    Answer answer = describe_step(options, step, elements(step.graph, graph::StateRole::moment));
    answer.json.update(graph.json);
    const std::size_t line = graph.text.find('\n') + 1;
    answer.text = graph.text.substr(0, line) + answer.text + graph.text.substr(line);
    return answer;
}

// The file of the step, or, if gradients are accumulated, step.accumulate.onnx and step.apply.onnx for
// step.onnx.
std::vector<Path> written_files(const GradientOptions& options) {
    if (!options.accumulate) return {options.output};
    const auto with = [&](const char* ending) { return Path(options.output).replace_extension(ending); };
    return {with(".accumulate.onnx"), with(".apply.onnx")};
}

Result<Answer> write_accumulated(const GradientOptions& options, const gradient::AccumulatedStep& step) {
    const std::vector<Path> files = written_files(options);
    Answer answer = describe_step(options, step.accumulate, elements(step.apply, graph::StateRole::moment));
    std::string graphs;
    for (const auto& [name, file, graph] : {std::tuple{"accumulate", &files[0], &step.accumulate.graph},
                                            std::tuple{"apply", &files[1], &step.apply}}) {
        VIRIDIAN_TRY(onnx::save(*graph, *file));
        const Answer one = describe_graph(*graph, file->string());
        answer.json[name] = one.json;
        graphs += one.text;
    }
    answer.text = graphs + answer.text;
    return answer;
}

Result<Answer> run_gradient(GradientOptions options) {
    for (const Path& file : written_files(options)) VIRIDIAN_TRY(check_writable(file));
    VIRIDIAN_TRY(check_replaces_nothing(written_files(options), files_read(options.model, {})));
    VIRIDIAN_TRY(gradient::StepOptions wanted, step_options(options.step));
    if (!options.model.memory.empty()) {
        VIRIDIAN_TRY(wanted.memory, parse_size(options.model.memory));
        wanted.need = [model = options.model](const graph::Graph& step) {
            return session::planned_need(step, model);
        };
    }
    if (wants_balance(options.step))
        return fail(ErrorCode::invalid_argument, "give the numbers, as in --class-weights 1,2,0.5",
                    "`viridian gradient` sees no samples, so it cannot balance the classes");
    if (wants_cheapest_stacking(options.step))
        return fail(
            ErrorCode::invalid_argument, "choose separate, pairs or all",
            "`viridian gradient` has no prices of kernels, so it cannot choose the cheapest stacking");
    if (wanted.optimizer.kind == gradient::OptimizerKind::none && !wanted.gradient_outputs &&
        !options.accumulate)
        return fail(ErrorCode::invalid_argument, "add --gradients, which makes each gradient an output",
                    "--optimizer none updates nothing, so nothing would read the gradients");
    options.model.runs = false;
    VIRIDIAN_TRY(const graph::Graph forward, session::load_model(options.model));
    if (options.accumulate) {
        VIRIDIAN_TRY(gradient::AccumulatedStep step, gradient::accumulated_step(forward, wanted));
        const std::string made = gradient::training_metadata(forward, wanted, step.accumulate);
        for (graph::Graph* graph : {&step.accumulate.graph, &step.apply})
            graph->metadata[std::string(gradient::training_key)] = made;
        return write_accumulated(options, step);
    }
    VIRIDIAN_TRY(gradient::Step step, gradient::training_step(forward, wanted));
    step.graph.metadata[std::string(gradient::training_key)] =
        gradient::training_metadata(forward, wanted, step);
    VIRIDIAN_TRY(onnx::save(step.graph, options.output));
    return describe(options, step);
}

}  // namespace

Command gradient_command() {
    return {"gradient", "Writes a model's training step: loss, gradients, updates",
            "viridian gradient resnet50.onnx --optimizer sgd -o step.onnx", [](App app) {
                auto options = std::make_shared<GradientOptions>();
                add_model_options(app, options->model, true);
                add_type_option(app, options->model);
                app.add_option("-o,--step", options->output, "The .onnx file to write").required();
                add_step_options(app, options->step);
                app.add_flag("--accumulate", options->accumulate,
                             "Write two graphs: one that adds up the gradients of a micro-batch, one that "
                             "applies them");
                app.add_flag("--gradients", options->step.step.gradient_outputs,
                             "Make each gradient an output, NAME.gradient");
                app.add_flag("--input-gradients", options->step.step.input_gradients,
                             "Compute the gradients of the network's inputs too, as outputs NAME.gradient");
                return [options] { return run_gradient(*options); };
            }};
}

}  // namespace viridian::cli
