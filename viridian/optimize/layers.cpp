#include "viridian/optimize/layers.hpp"

#include <map>

#include "viridian/base/json.hpp"
#include "viridian/optimize/precision_result.hpp"

namespace viridian::optimize {
namespace {

using graph::ValueId;

// Where each buffer's content was made: the layer that wrote it, or −1 for a graph input.
class Writers {
  public:
    explicit Writers(const plan::Plan& plan) : plan_(plan) {}
    void wrote(ValueId value, const plan::Format& format, int layer) { made_[{value, text(format)}] = layer; }
    [[nodiscard]] int find(ValueId value, const plan::Format& format) const {
        const auto found = made_.find({value, text(format)});
        return found == made_.end() ? -1 : found->second;
    }
    [[nodiscard]] const plan::Plan& plan() const { return plan_; }

  private:
    const plan::Plan& plan_;
    std::map<std::pair<ValueId, std::string>, int> made_;
};

Json operators_of(const graph::Graph& graph, const plan::Region& region) {
    Json list = Json::array();
    for (const graph::NodeId id : region.nodes) list.emplace_back(graph.node(id).op.name());
    return list;
}

Json origin_of(const graph::Graph& graph, const plan::Region& region) {
    Json list = Json::array();
    for (const graph::NodeId id : region.nodes)
        for (const std::string& name : graph.node(id).origin) list.push_back(name);
    return list;
}

// Regions without a step (views, in-place concatenations) come where they would run: before the first step
// that follows them in the assignment's execution order. They are listed after the steps that feed them.
struct Layer {
    const plan::Step* step = nullptr;  // kernel or conversion
    const plan::AssignedRegion* free_region = nullptr;
    std::size_t step_index = 0;
};

std::vector<Layer> in_order(const PlannedModel& planned) {
    std::map<graph::NodeId, const plan::AssignedRegion*> free_regions;
    for (const plan::AssignedRegion& assigned : planned.plan.assignment.regions)
        if (assigned.choice.aliasing == plan::Aliasing::view ||
            assigned.choice.aliasing == plan::Aliasing::gather)
            free_regions[assigned.region.nodes.front()] = &assigned;
    std::vector<Layer> layers;
    std::map<ValueId, bool> there;
    for (const ValueId input : run_inputs(planned.graph)) there[input] = true;
    const auto release = [&] {  // free regions whose inputs are all there
        for (bool moved = true; moved;) {
            moved = false;
            for (auto it = free_regions.begin(); it != free_regions.end();) {
                bool ready = true;
                for (const ValueId input : it->second->region.inputs) ready = ready && there.contains(input);
                if (!ready) {
                    ++it;
                    continue;
                }
                layers.push_back({nullptr, it->second, 0});
                for (const ValueId output : it->second->region.outputs) there[output] = true;
                it = free_regions.erase(it);
                moved = true;
            }
        }
    };
    release();
    for (std::size_t s = 0; s < planned.plan.steps.size(); ++s) {
        const plan::Step& step = planned.plan.steps[s];
        layers.push_back({&step, nullptr, s});
        for (const ValueId output : step.region.outputs) there[output] = true;
        release();
    }
    return layers;
}

Json seconds_json(const std::vector<double>* steps, std::size_t step) {
    return {{"seconds", steps != nullptr && step < steps->size() ? Json((*steps)[step]) : Json()}};
}

}  // namespace

Json layers_json(const PlannedModel& planned, const Measurement* measured) {
    const auto* alone = measured != nullptr ? &measured->alone : nullptr;
    const auto* ran = measured != nullptr ? &measured->step_seconds : nullptr;
    const plan::Plan& plan = planned.plan;
    Writers writers(plan);
    Json layers = Json::array();
    for (const Layer& layer : in_order(planned)) {
        const int index = static_cast<int>(layers.size());
        Json json = {{"index", index}};
        Json inputs = Json::array();
        Json outputs = Json::array();
        const auto read = [&](ValueId value, const plan::Format& format) {
            inputs.push_back({{"layer", writers.find(value, format)}, {"format", text(format)}});
        };
        const auto write = [&](ValueId value, const plan::Format& format) {
            outputs.push_back(text(format));
            writers.wrote(value, format, index);
        };
        const plan::Region* region = layer.step != nullptr ? &layer.step->region : &layer.free_region->region;
        const plan::Choice* choice = layer.step != nullptr ? &layer.step->choice : &layer.free_region->choice;
        if (layer.step != nullptr && layer.step->kind == plan::Step::Kind::conversion) {
            const plan::Buffer& from = plan.buffers[layer.step->inputs[0]];
            const plan::Buffer& to = plan.buffers[layer.step->outputs[0]];
            json["name"] = planned.graph.value(from.value).name;
            json["kind"] = "conversion";
            json["operators"] = Json::array({from.format == to.format ? "copy" : "convert"});
            json["origin"] = Json::array();
            json["kernel"] = "conversion";
            json["precision"] =
                precision_of({"conversion", {from.format}, {to.format}, plan::Aliasing::none, 0, {}, {}});
            read(from.value, from.format);
            write(to.value, to.format);
        } else {
            json["name"] = planned.graph.node(region->nodes.back()).name;
            json["kind"] = layer.step != nullptr ? "kernel" : "view";
            json["operators"] = operators_of(planned.graph, *region);
            json["origin"] = origin_of(planned.graph, *region);
            json["kernel"] = choice->kernel;
            json["precision"] = precision_of(*choice);
            if (choice->threads != 0) json["threads"] = choice->threads;
            for (std::size_t i = 0; i < region->inputs.size(); ++i)
                read(region->inputs[i], choice->inputs[i]);
            for (std::size_t i = 0; i < region->outputs.size(); ++i)
                write(region->outputs[i], choice->outputs[i]);
        }
        json["inputs"] = std::move(inputs);
        json["outputs"] = std::move(outputs);
        if (layer.step != nullptr) {
            const cost::Price& price = planned.prices[layer.step_index];
            const bool priced = !price.energy.provenance.source.empty();  // copies to outputs are not
            json["predicted"] = {{"seconds", price.seconds.value},
                                 {"joules", priced ? to_json(price.energy) : Json()}};
            json["timed_alone"] = seconds_json(alone, layer.step_index);
            json["ran"] = seconds_json(ran, layer.step_index);
        } else {
            json["predicted"] = {{"seconds", 0.0}, {"joules", nullptr}};
            for (const char* name : {"timed_alone", "ran"}) json[name] = {{"seconds", 0.0}};
        }
        layers.push_back(std::move(json));
    }
    return layers;
}

}  // namespace viridian::optimize
