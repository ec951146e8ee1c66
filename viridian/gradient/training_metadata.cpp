#include "viridian/gradient/training_metadata.hpp"

#include "viridian/base/json.hpp"

namespace viridian::gradient {
namespace {

Json described(const LossOptions& loss) {
    Json json = {{"kind", name_of(loss.kind)}};
    if (!loss.output.empty()) json["output"] = loss.output;
    if (loss.kind == LossKind::huber) json["delta"] = loss.delta;
    if (loss.kind == LossKind::cross_entropy || loss.kind == LossKind::negative_log_likelihood) {
        json["label_smoothing"] = loss.label_smoothing;
        json["ignored_label"] = loss.ignored_label;
        if (!loss.class_weights.empty()) json["class_weights"] = loss.class_weights;
        if (loss.class_axis) json["class_axis"] = *loss.class_axis;
    }
    return json;
}

Json described(const OptimizerOptions& optimizer) {
    using enum OptimizerKind;
    Json json = {{"kind", name_of(optimizer.kind)}};
    if (optimizer.kind == none) return json;
    const bool root = optimizer.kind == rmsprop;
    if (optimizer.kind == sgd || root) json["momentum"] = optimizer.momentum;
    if (optimizer.kind == sgd) {
        json["nesterov"] = optimizer.nesterov;
        return json;
    }
    if (root) {
        json["alpha"] = optimizer.alpha;
    } else {
        json["beta1"] = optimizer.beta1;
        json["beta2"] = optimizer.beta2;
    }
    json["epsilon"] = optimizer.epsilon;
    return json;
}

}  // namespace

std::string training_metadata(const graph::Graph& forward, const StepOptions& options, const Step& step) {
    Json json = {{"loss", described(options.loss)},
                 {"optimizer", described(options.optimizer)},
                 {"clip", options.clip_norm > 0 ? Json(options.clip_norm) : Json()},
                 {"decay", Json::object()},
                 {"frozen", step.frozen},
                 {"model", fmt::format("{:016x}", structural_hash(forward))}};
    for (const Trained& parameter : step.parameters) json["decay"][parameter.name] = parameter.decay;
    for (const StackedState& state : step.stacked) {
        Json parts = Json::array();
        for (const StackedPart& part : state.parts)
            parts.push_back({{"name", part.name}, {"extent", part.extent}});
        json["stacked"].push_back({{"state", state.name}, {"axis", state.axis}, {"parts", std::move(parts)}});
    }
    return json_dump(json, -1);
}

}  // namespace viridian::gradient
