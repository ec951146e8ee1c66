// Writes the training step of a model: forward pass, loss, gradients and updates as one graph.
#include <memory>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/train/step_options.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

struct GradientOptions {
    ModelOptions model;
    StepChoice step;
    std::string output;
};

std::int64_t elements(const graph::Graph& graph, graph::StateRole role) {
    std::int64_t count = 0;
    for (const graph::State& state : graph.states())
        if (state.role == role) count += graph::element_count(graph.value(state.before).type.dims()).value();
    return count;
}

Answer describe(const GradientOptions& options, const gradient::Step& step) {
    const graph::Graph& graph = step.graph;
    std::map<graph::Phase, std::int64_t> nodes;
    for (const graph::NodeId id : graph.nodes()) ++nodes[graph.node(id).phase];
    Answer answer;
    answer.json = {{"schema", "viridian.gradient/1"},
                   {"model", options.model.model},
                   {"file", options.output},
                   {"loss", options.step.loss},
                   {"optimizer", options.step.optimizer},
                   {"parameters", Json::array()},
                   {"frozen", step.frozen},
                   {"statistics", step.statistics},
                   {"elements",
                    {{"parameters", elements(graph, graph::StateRole::parameter)},
                     {"moments", elements(graph, graph::StateRole::moment)}}},
                   {"nodes", Json::object()},
                   {"inputs", Json::object()},
                   {"outputs", Json::object()}};
    for (const gradient::Trained& trained : step.parameters)
        answer.json["parameters"].push_back(
            {{"name", trained.name}, {"decay", trained.decay}, {"moments", trained.moments}});
    answer.text = fmt::format("wrote {}: {} nodes (", options.output, graph.nodes().size());
    for (const graph::Phase phase :
         {graph::Phase::forward, graph::Phase::backward, graph::Phase::weight, graph::Phase::update}) {
        answer.json["nodes"][name_of(phase)] = nodes[phase];
        answer.text +=
            fmt::format("{}{} {}", phase == graph::Phase::forward ? "" : ", ", nodes[phase], name_of(phase));
    }
    answer.text +=
        fmt::format(")\n  trained {} of {} parameter tensors, {} elements; {} elements of moments\n",
                    step.parameters.size(), step.parameters.size() + step.frozen.size(),
                    elements(graph, graph::StateRole::parameter), elements(graph, graph::StateRole::moment));
    const auto tell = [&](const char* key, const char* what, graph::ValueId id) {
        const graph::Value& value = graph.value(id);
        answer.json[key][value.name] = text(value.type);
        answer.text += fmt::format("  {:<7} {:<24} {}\n", what, value.name, text(value.type));
    };
    for (const graph::ValueId id : graph.inputs()) tell("inputs", "input", id);
    for (const graph::ValueId id : graph.outputs()) tell("outputs", "output", id);
    return answer;
}

Result<Answer> run_gradient(GradientOptions options) {
    VIRIDIAN_TRY(check_writable(options.output));
    VIRIDIAN_TRY(const gradient::StepOptions wanted, step_options(options.step));
    if (wants_balance(options.step))
        return fail(ErrorCode::invalid_argument, "give the numbers, as in --class-weights 1,2,0.5",
                    "`viridian gradient` sees no samples, so it cannot balance the classes");
    options.model.runs = false;
    VIRIDIAN_TRY(const graph::Graph forward, session::load_model(options.model));
    VIRIDIAN_TRY(const gradient::Step step, gradient::training_step(forward, wanted));
    VIRIDIAN_TRY(onnx::save(step.graph, options.output));
    return describe(options, step);
}

}  // namespace

Command gradient_command() {
    return {"gradient", "Writes a model's training step: loss, gradients, updates",
            "viridian gradient resnet50.onnx --optimizer sgd -o step.onnx", [](App app) {
                auto options = std::make_shared<GradientOptions>();
                add_model_options(app, options->model);
                app.add_option("-o,--step", options->output, "The .onnx file to write").required();
                add_step_options(app, options->step);
                app.add_flag("--gradients", options->step.step.gradient_outputs,
                             "Make each gradient an output, NAME.gradient");
                return [options] { return run_gradient(*options); };
            }};
}

}  // namespace viridian::cli
