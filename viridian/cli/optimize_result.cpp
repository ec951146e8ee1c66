#include "viridian/cli/optimize_result.hpp"

#include <cmath>
#include <map>

#include "viridian/cli/precision_result.hpp"
#include "viridian/cli/units_text.hpp"

namespace viridian::cli {
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
    for (const graph::NodeId id : region.nodes) list.push_back(graph.node(id).op);
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

std::vector<Layer> in_order(const Planned& planned) {
    std::map<graph::NodeId, const plan::AssignedRegion*> free_regions;
    for (const plan::AssignedRegion& assigned : planned.plan.assignment.regions)
        if (assigned.choice.aliasing == plan::Aliasing::view ||
            assigned.choice.aliasing == plan::Aliasing::gather)
            free_regions[assigned.region.nodes.front()] = &assigned;
    std::vector<Layer> layers;
    std::map<ValueId, bool> there;
    for (const ValueId input : planned.graph.inputs()) there[input] = true;
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

}  // namespace

Json layers_json(const Planned& planned, const std::vector<cost::Price>& prices,
                 const std::vector<double>& ran) {
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
                precision_of({"conversion", {from.format}, {to.format}, plan::Aliasing::none, 0, {}});
            read(from.value, from.format);
            write(to.value, to.format);
        } else {
            json["name"] = planned.graph.node(region->nodes.back()).name;
            json["kind"] = layer.step != nullptr ? "kernel" : "view";
            json["operators"] = operators_of(planned.graph, *region);
            json["origin"] = origin_of(planned.graph, *region);
            json["kernel"] = choice->kernel;
            json["precision"] = precision_of(*choice);
            for (std::size_t i = 0; i < region->inputs.size(); ++i)
                read(region->inputs[i], choice->inputs[i]);
            for (std::size_t i = 0; i < region->outputs.size(); ++i)
                write(region->outputs[i], choice->outputs[i]);
        }
        json["inputs"] = std::move(inputs);
        json["outputs"] = std::move(outputs);
        if (layer.step != nullptr) {
            const cost::Price& price = prices[layer.step_index];
            const bool priced = !price.energy.provenance.source.empty();  // copies to outputs are not
            json["predicted"] = {{"seconds", price.seconds.value},
                                 {"joules", priced ? to_json(price.energy) : Json()}};
            json["ran"] = {{"seconds", layer.step_index < ran.size() ? Json(ran[layer.step_index]) : Json()}};
        } else {
            json["predicted"] = {{"seconds", 0.0}, {"joules", nullptr}};
            json["ran"] = {{"seconds", 0.0}};
        }
        layers.push_back(std::move(json));
    }
    return layers;
}

Json predicted_json(const Planned& planned) {
    return {{"predicted",
             {{"seconds", planned.plan.predicted_seconds.value},
              {"joules", to_json(planned.plan.predicted_energy)}}},
            {"kernels", planned.plan.steps.size()}};
}

Json side_json(const Planned& planned, const Ran& ran) {
    Json side = predicted_json(planned);
    // What the plan was chosen by, and what the same prices were while it ran.
    side["predicted"]["database"] = side["predicted"];
    const cost::Price now = total(ran.prices);
    side["predicted"]["seconds"] = now.seconds.value;
    side["predicted"]["joules"] = to_json(now.energy);
    side["ran"] = {{"seconds", ran.seconds.median}, {"minimum", ran.seconds.minimum},
                   {"low", ran.seconds.low},        {"high", ran.seconds.high},
                   {"runs", ran.seconds.count},     {"joules", to_json(ran.energy)}};
    side["memory_bytes"] = planned.executable->memory().value;
    return side;
}

Json assignment_json(const plan::Assignment& assignment) {
    return {{"solver", assignment.solver},
            {"value", assignment.value},
            {"bound", assignment.bound},
            {"gap", assignment.gap()}};
}

namespace {

// What was proven, no more.
std::string proof_text(const Json& verification) {
    double error = 0;
    for (const Json& output : verification["outputs"]) error = std::max(error, output["error"].get<double>());
    const int inputs = verification["inputs"].get<int>();
    const int reused = verification["reference_reused"].get<int>();
    std::string text = fmt::format("equal to the original within {:.1e} (relative L2) on {} {}", error,
                                   inputs, inputs == 1 ? "input" : "inputs");
    std::int64_t differing = 0;
    for (const Json& output : verification["outputs"]) {
        if (output["allowed"].get<double>() > 1e-4)
            text += fmt::format(", {:.1e} allowed: {}", output["allowed"].get<double>(),
                                output["because"].get<std::string>());
        if (output.contains("integers")) differing += output["integers"]["differing"].get<std::int64_t>();
    }
    if (differing > 0) text += fmt::format(", {} integers differ", differing);
    if (verification.contains("kernels"))
        text += fmt::format(", {} kernels each within {:.1e}",
                            verification["kernels"]["checked"].get<std::size_t>(),
                            verification["kernels"]["error"].get<double>());
    std::int64_t rows = 0, agreeing = 0;
    for (const Json& output : verification["outputs"])
        if (output.contains("top1")) {
            rows += output["top1"]["rows"].get<std::int64_t>();
            agreeing += output["top1"]["agreeing"].get<std::int64_t>();
        }
    if (rows > 0) text += fmt::format(", best class on {} of {} rows", agreeing, rows);
    if (reused > 0)
        text += fmt::format("; the original's {} computed by an earlier run",
                            reused == inputs ? "were" : fmt::format("of {} were", reused));
    return text;
}

// How near the plan is to the cheapest one for its graph. Mixes and products have no unit.
std::string bound_text(const Json& assignment, const std::string& objective) {
    const std::string metric = objective.substr(0, objective.find(" @"));
    const char* unit = metric == "time" ? "s" : metric == "energy" ? "J" : metric == "power" ? "W" : "";
    const double value = assignment["value"].get<double>();
    const Json& bound = assignment["bound"];
    if (!bound.is_number() || !std::isfinite(bound.get<double>()))
        return fmt::format("{}, no bound known", quantity(value, unit));
    const double gap = value - bound.get<double>();
    if (gap <= 0) return "gap 0: proven cheapest";
    return fmt::format("gap {}: {}, and none is below {}", quantity(gap, unit), quantity(value, unit),
                       quantity(bound.get<double>(), unit));
}

// What the search did not look at.
std::string left_out_text(const Json& search) {
    std::string out;
    if (const int count = search.value("unpriced", 0); count > 0)
        out += fmt::format(", {} without a kernel or price left out", count);
    if (const int count = search.value("crowded_out", 0); count > 0)
        out += fmt::format(", {} not gone on from: too many cheaper ones waited", count);
    return out;
}

// The plan, and the search that found it.
std::string how_text(const Json& result) {
    const Json& assignment = result["assignment"];
    std::string out = fmt::format("  plan     {} rewrites, {} solver, {}\n", result["rewrites"].size(),
                                  assignment["solver"].get<std::string>(),
                                  bound_text(assignment, result["objective"].get<std::string>()));
    if (const Json& search = result["search"]; search.is_object() && search["method"] != "none")
        out += fmt::format("  search   {}: {} graphs in {:.1f} s, ended by {}{}\n",
                           search["method"].get<std::string>(), search["graphs"].get<int>(),
                           search["seconds"].get<double>(),
                           search["ended_by"] == "exhausted" ? "having seen all"
                           : search["ended_by"] == "cancelled"
                               ? "the user"
                               : fmt::format("its budget of {}", search["ended_by"].get<std::string>()),
                           left_out_text(search));
    return out;
}

// What else a user should know.
std::string notes_text(const Json& result) {
    std::string out;
    const Json& verification = result["verification"];
    if (verification.value("rewrites_dropped", false))
        out += "  note     no rewrite was kept: with them the outputs differ by more than is allowed\n";
    if (const int count = verification.value("only_reference", 0); count > 0)
        out += fmt::format(
            "  note     {} kinds of region run on the reference kernels: with every faster kernel, the "
            "original's "
            "own included, the outputs differ by more than is allowed\n",
            count);
    return out;
}

std::string frontier_text(const Json& result) {
    if (!result.contains("frontier")) return "";
    return fmt::format(
        "  trades   {} best ones of time against energy on this graph, in the page and in --json\n",
        result["frontier"]["vertices"].size());
}

std::string files_text(const Json& result) {
    std::string out;
    for (const char* key :
         {"model_file", "bf16_file", "bf16_weights_file", "plan_file", "page_file", "certificate_file"})
        if (result["files"].contains(key))
            out += fmt::format("  wrote    {}\n", result["files"][key].get<std::string>());
    return out;
}

}  // namespace

std::string optimize_text(const Json& result) {
    const auto seconds = [&](const char* side, const char* what) {
        return result[side][what]["seconds"].get<double>();
    };
    const auto joules = [&](const char* side) {
        return result[side]["ran"]["joules"]["value"].get<double>();
    };
    const double before = seconds("baseline", "ran");
    const double after = seconds("optimized", "ran");
    std::string out;
    out += fmt::format("{}  on {}, {} threads, objective {}\n", result["model"].get<std::string>(),
                       result["device"].get<std::string>(), result["threads"].get<int>(),
                       result["objective"].get<std::string>());
    out += fmt::format("  time     {:>9} -> {:>9}   {:.2f}x   (predicted {}, {:+.1f} %)\n",
                       quantity(before, "s"), quantity(after, "s"), before / after,
                       quantity(seconds("optimized", "predicted"), "s"),
                       100 * (seconds("optimized", "predicted") / after - 1));
    out += fmt::format("  energy   {:>9} -> {:>9}   {:.2f}x   {}\n", quantity(joules("baseline"), "J"),
                       quantity(joules("optimized"), "J"), joules("baseline") / joules("optimized"),
                       result["optimized"]["ran"]["joules"]["provenance"].get<std::string>());
    out += how_text(result);
    out += precision_text(result);
    out += "  outputs  " + proof_text(result["verification"]) + "\n" + notes_text(result);
    return out + frontier_text(result) + files_text(result);
}

std::string recorded_text(const Json& result) {
    const auto predicted = [&](const char* side) -> const Json& { return result[side]["predicted"]; };
    const auto row = [&](const char* name, const char* unit, double before, double after) {
        return fmt::format("  {:<8} {:>9} -> {:>9}   {:.2f}x   predicted", name, quantity(before, unit),
                           quantity(after, unit), before / after);
    };
    const auto seconds = [&](const char* side) { return predicted(side)["seconds"].get<double>(); };
    const auto joules = [&](const char* side) { return predicted(side)["joules"]["value"].get<double>(); };
    std::string out =
        fmt::format("{}  on {}, as {} has it, objective {}\n", result["model"].get<std::string>(),
                    result["device"].get<std::string>(), result["recorded"]["file"].get<std::string>(),
                    result["objective"].get<std::string>());
    out += row("time", "s", seconds("baseline"), seconds("optimized")) + "\n";
    out += row("energy", "J", joules("baseline"), joules("optimized")) + ", " +
           predicted("optimized")["joules"]["provenance"].get<std::string>() + "\n";
    out += row("power", "W", joules("baseline") / seconds("baseline"),
               joules("optimized") / seconds("optimized")) +
           "\n";
    out += how_text(result);
    out += "  outputs  not run: every price is from the file; `viridian check` replays the rewrites\n";
    return out + frontier_text(result) + files_text(result);
}

}  // namespace viridian::cli
