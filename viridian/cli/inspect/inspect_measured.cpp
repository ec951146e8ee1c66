#include "viridian/cli/inspect/inspect_measured.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "viridian/base/system/machine.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/meter/doctor_peaks.hpp"
#include "viridian/cli/model/model_tensors.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/data_flow.hpp"
#include "viridian/movement/efficiency.hpp"
#include "viridian/movement/readings.hpp"
#include "viridian/profile/weights.hpp"
#include "viridian/session/session.hpp"

namespace viridian::cli {
namespace {

using execute::Peak;
using execute::Probe;
using graph::Graph;
using graph::NodeId;
using graph::OperatorClass;

// One operator of the model, or one of its gradients; of a plan, one kernel or change of format.
struct OperatorRow {
    std::string name;
    OperatorClass operator_class = OperatorClass::elementwise;
    movement::Demand demand;
    movement::Words words;
    std::optional<Flop> executed = Flop(0);  // none: a kernel computes by an algorithm that does not say it
    Seconds seconds;
    // Both are false unless a plan is measured. `bf16`: the kernel reads bf16. `conversion`: the row is no
    // kernel but a change of format, whose time is part of the last class, "views and layouts".
    bool bf16 = false, conversion = false;
};

struct Rows {
    std::vector<OperatorRow> operators;
    std::map<NodeId, std::size_t> of_node;
    Seconds elsewhere;  // views that were copied, changes of layout, and nodes of single elements
};

// The row of these nodes, which lacks words, bytes and seconds.
OperatorRow row_of(const Graph& graph, const graph::DataFlow& flow, const std::vector<NodeId>& nodes) {
    OperatorRow row;
    for (const NodeId id : nodes) {
        const auto own = std::ranges::find(flow.nodes, id, &graph::NodeFlow::node);
        if (id == nodes[0] || own->operator_class < row.operator_class)
            row.operator_class = own->operator_class;
        const graph::Node& node = graph.node(id);
        row.demand.product = row.demand.product || node.op == graph::op::MatMul || node.op == graph::op::Gemm;
        row.demand.flop += own->flop;
        row.name += (row.name.empty() ? "" : ", ") + node.name;
    }
    return row;
}

Result<Rows> rows_of(const Graph& graph) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    VIRIDIAN_TRY(const movement::Fusion apart, movement::fuse(graph, movement::FusionRule::none));
    Rows rows;
    for (const movement::Region& region : apart.regions) {
        OperatorRow row = row_of(graph, flow, region.nodes);
        for (const NodeId id : region.nodes) rows.of_node[id] = rows.operators.size();
        row.demand.moved = movement::bytes_of(graph, region);
        row.words = words_of(graph, region);
        rows.operators.push_back(std::move(row));
    }
    return rows;
}

// Returns whether the kernel executes the flop that its operators require. Winograd and Strassen execute
// fewer.
bool does_what_is_required(const plan::Step& step) {
    const plan::Algorithm algorithm = step.choice.variant.algorithm;
    return algorithm == plan::Algorithm::direct || algorithm == plan::Algorithm::reference;
}

// Adds the seconds of each step to its operator.
void add_times(const plan::Plan& plan, const std::vector<double>& seconds, Rows& rows) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const plan::Step& step = plan.steps[i];
        OperatorRow* row = nullptr;
        if (step.kind == plan::Step::Kind::kernel)
            for (const NodeId id : step.region.nodes)
                if (const auto found = rows.of_node.find(id); row == nullptr && found != rows.of_node.end())
                    row = &rows.operators[found->second];
        (row == nullptr ? rows.elsewhere : row->seconds) += Seconds(seconds[i]);
        if (row == nullptr) continue;
        if (!does_what_is_required(step)) row->executed.reset();
    }
    for (OperatorRow& row : rows.operators)
        if (row.executed) row.executed = row.demand.flop;
}

// One row for each step of the plan, whose tensors count in the formats that it gives them.
Result<Rows> rows_of(const Graph& graph, const plan::Plan& plan, const std::vector<double>& seconds) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    Rows rows;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const plan::Step& step = plan.steps[i];
        OperatorRow row = row_of(graph, flow, step.region.nodes);
        if (step.kind == plan::Step::Kind::conversion) {
            const plan::Buffer& to = plan.buffers[step.outputs[0]];
            row.name = fmt::format("{} to {}", graph.value(to.value).name, text(to.format));
            row.operator_class = OperatorClass::movement;
            row.conversion = true;
        }
        const auto add = [&](std::int64_t elements, graph::ElementType element, std::int64_t& words) {
            words += elements;
            row.demand.moved += Bytes(elements * graph::size_of(element));
        };
        for (const plan::BufferId id : step.inputs) {
            const plan::Buffer& buffer = plan.buffers[id];
            row.bf16 = row.bf16 || buffer.format.element == graph::ElementType::bf16;
            VIRIDIAN_TRY(const std::int64_t elements, graph::element_count(buffer.dims));
            add(elements, buffer.format.element, row.words.read);
        }
        for (const plan::BufferId id : step.outputs) {
            VIRIDIAN_TRY(const std::int64_t elements, graph::element_count(plan.buffers[id].dims));
            add(elements, plan.buffers[id].format.element, row.words.written);
        }
        for (const graph::ValueId id : step.region.constants) {
            VIRIDIAN_TRY(const std::int64_t elements, graph::element_count(graph.value(id).type.dims()));
            row.words.read += elements;
        }
        row.demand.moved += profile::weight_bytes(graph, step.region, step.choice);
        if (row.bf16) row.demand.word_bytes = graph::size_of(graph::ElementType::bf16);
        row.executed = row.demand.flop;
        if (step.kind == plan::Step::Kind::kernel && !does_what_is_required(step)) row.executed.reset();
        row.seconds = Seconds(seconds[i]);
        rows.operators.push_back(std::move(row));
    }
    return rows;
}

struct Measured {
    int threads = 1;
    int runs = 0;
    Seconds seconds;  // of all steps
    std::vector<Peak> peaks;
    movement::Ceiling ceiling, bf16_ceiling;  // the latter is for products of bf16
    Rows rows;

    [[nodiscard]] const movement::Ceiling& ceiling_of(const OperatorRow& row) const {
        const bool product = row.operator_class == OperatorClass::contraction;
        return row.bf16 && product && bf16_ceiling.flop_in_a_second > 0 ? bf16_ceiling : ceiling;
    }
};

double best_of(const std::vector<Peak>& peaks, Probe probe, int threads) {
    const Peak* peak = execute::find_peak(peaks, probe, threads);
    return peak == nullptr ? 0 : peak->best;
}

// Probes the processor. The best of reading, writing and copying counts as the bandwidth of memory.
Result<void> probe(Measured& measured) {
    VIRIDIAN_TRY(measured.peaks, execute::probe_peaks(measured.threads));
    const auto best = [&](Probe probe) { return best_of(measured.peaks, probe, measured.threads); };
    const Machine machine = this_machine();
    measured.ceiling = {.flop_in_a_second = best(Probe::f32),
                        .bytes_in_a_second = std::max(
                            {best(Probe::memory_read), best(Probe::memory_write), best(Probe::memory_copy)}),
                        .near_cache = machine.l2,
                        .last_cache = machine.l3};
    measured.bf16_ceiling = measured.ceiling;
    measured.bf16_ceiling.flop_in_a_second = std::max(best(Probe::bf16), best(Probe::bf16_tiles));
    return {};
}

// Runs the kernels of a plan, or of a model without one each operator by itself, and takes the median seconds
// of each step over some seconds of runs.
Result<Measured> measure(session::LoadedModel model, const session::ModelOptions& options) {
    constexpr double wanted_seconds = 4;
    const bool planned = model.sidecar != nullptr;
    Measured result;
    if (!planned) {
        VIRIDIAN_TRY(result.rows, rows_of(model.graph));
    }
    VIRIDIAN_TRY(const std::vector<graph::Tensor> inputs, model_inputs(model.graph, {}, 1));
    const execute::PinnedCaller pinned(options.pin);
    VIRIDIAN_TRY(const session::Session session, planned ? session::prepare(std::move(model), options)
                                                         : session::prepare_apart(std::move(model), options));
    result.threads = session.device->threads();
    VIRIDIAN_TRY(probe(result));
    const auto run = [&](int runs) -> Result<std::vector<double>> {
        VIRIDIAN_TRY(std::vector<double> steps, optimize::step_seconds(session.planned, inputs, runs));
        result.seconds = {};
        for (const double step : steps) result.seconds += Seconds(step);
        result.runs = runs;
        return steps;
    };
    VIRIDIAN_TRY(run(1));
    const double runs =
        std::clamp(std::ceil(wanted_seconds / std::max(result.seconds.value, 1e-6)), 5.0, 101.0);
    VIRIDIAN_TRY(const std::vector<double> steps, run(static_cast<int>(runs)));
    if (!planned) {
        add_times(session.planned.plan, steps, result.rows);
    } else {
        VIRIDIAN_TRY(result.rows, rows_of(session.planned.graph, session.planned.plan, steps));
    }
    return result;
}

double share_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

double flop_per_word(const OperatorRow& row) {
    const std::int64_t words = row.words.moved();
    return words == 0 ? 0 : static_cast<double>(row.demand.flop.value) / static_cast<double>(words);
}

Json to_json(const OperatorRow& row, const movement::Ceiling& ceiling) {
    Json json = {{"name", row.name},
                 {"class", graph::name_of(row.operator_class)},
                 {"flop", row.demand.flop.value},
                 {"flop_executed", row.executed ? Json(row.executed->value) : Json()},
                 {"words_read", row.words.read},
                 {"words_written", row.words.written},
                 {"flop_per_word", flop_per_word(row)},
                 {"reads_bf16", row.bf16},
                 {"seconds", row.seconds.value}};
    const bool timed = row.seconds > Seconds();
    const movement::Efficiency found =
        timed ? efficiency_of(row.demand, row.seconds, ceiling) : movement::Efficiency();
    json["percent_of_peak"] = timed ? Json(found.percent_of_peak) : Json();
    json["mue"] = timed ? Json(found.mue) : Json();
    json["bound"] = timed ? Json(name_of(found.bound)) : Json();
    json["residency"] = timed ? Json(name_of(found.residency)) : Json();
    return json;
}

std::string shortened(const std::string& name, std::size_t most) {
    return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

std::string line_of(const OperatorRow& row, const movement::Ceiling& ceiling) {
    std::string text = fmt::format(
        "  {:<40} {:<14} {:>8} {:>8} {:>8} {:>8} {:>9.2f}", shortened(row.name, 40),
        graph::name_of(row.operator_class), quantity(static_cast<double>(row.demand.flop.value), ""),
        row.executed ? quantity(static_cast<double>(row.executed->value), "") : "?",
        quantity(static_cast<double>(row.words.read), ""),
        quantity(static_cast<double>(row.words.written), ""), flop_per_word(row));
    if (!(row.seconds > Seconds())) return text + "  in no kernel of its own\n";
    const movement::Efficiency found = efficiency_of(row.demand, row.seconds, ceiling);
    return text + fmt::format(" {:>9} {:>6.1f} {:>6.1f}  {:<6} {}{}\n", quantity(row.seconds.value, "s"),
                              found.percent_of_peak, found.mue, name_of(found.residency),
                              name_of(found.bound), row.bf16 ? ", reads bf16" : "");
}

// One class of operators; whatever is no contraction and no normalisation counts as element-wise. The last
// row has the time that no operator has.
struct ClassRow {
    std::string name;
    double flop = 0, words = 0, seconds = 0;
};

std::vector<ClassRow> classes_of(const Rows& rows) {
    std::vector<ClassRow> classes;
    for (const OperatorClass each :
         {OperatorClass::contraction, OperatorClass::normalization, OperatorClass::elementwise}) {
        classes.push_back({std::string(graph::name_of(each))});
        for (const OperatorRow& row : rows.operators) {
            if (row.conversion || std::min(row.operator_class, OperatorClass::elementwise) != each) continue;
            classes.back().flop += static_cast<double>(row.demand.flop.value);
            classes.back().words += static_cast<double>(row.words.moved());
            classes.back().seconds += row.seconds.value;
        }
    }
    classes.push_back({.name = "views and layouts", .seconds = rows.elsewhere.value});
    for (const OperatorRow& row : rows.operators)
        if (row.conversion) classes.back().seconds += row.seconds.value;
    return classes;
}

ClassRow total_of(const std::vector<ClassRow>& classes) {
    ClassRow all{.name = "all"};
    for (const ClassRow& row : classes) {
        all.flop += row.flop;
        all.words += row.words;
        all.seconds += row.seconds;
    }
    return all;
}

Json classes_json(const std::vector<ClassRow>& classes) {
    const ClassRow all = total_of(classes);
    Json list = Json::array();
    for (const ClassRow& row : classes)
        list.push_back({{"name", row.name},
                        {"flop", row.flop},
                        {"flop_share", share_of(row.flop, all.flop)},
                        {"words", row.words},
                        {"words_share", share_of(row.words, all.words)},
                        {"seconds", row.seconds},
                        {"seconds_share", share_of(row.seconds, all.seconds)}});
    return list;
}

std::string classes_text(const std::vector<ClassRow>& classes) {
    const ClassRow all = total_of(classes);
    std::string text = fmt::format("\n  {:<20} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "class", "flop",
                                   "share", "words", "share", "time", "share");
    for (const ClassRow& row : classes)
        text += fmt::format("  {:<20} {:>10} {:>8.2f} % {:>10} {:>8.2f} % {:>10} {:>8.2f} %\n", row.name,
                            quantity(row.flop, ""), share_of(row.flop, all.flop), quantity(row.words, ""),
                            share_of(row.words, all.words), quantity(row.seconds, "s"),
                            share_of(row.seconds, all.seconds));
    return text;
}

}  // namespace

Result<MeasuredAnswer> describe_measured(const session::ModelOptions& options, Listener& listener) {
    // Operators are measured one by one, those of attention's gradient, too.
    VIRIDIAN_TRY(session::LoadedModel model,
                 session::load(options, &listener, {"recognise_attention_gradient"}));
    VIRIDIAN_TRY(const Measured measured, measure(std::move(model), options));
    const std::vector<ClassRow> classes = classes_of(measured.rows);
    MeasuredAnswer answer;
    answer.json = {{"threads", measured.threads},
                   {"runs", measured.runs},
                   {"seconds", measured.seconds.value},
                   {"peak_flop_per_second", measured.ceiling.flop_in_a_second},
                   {"peak_bytes_per_second", measured.ceiling.bytes_in_a_second},
                   {"peaks", Json::array()},
                   {"classes", classes_json(classes)},
                   {"operators", Json::array()}};
    for (const Peak& peak : measured.peaks) answer.json["peaks"].push_back(to_json(peak));
    answer.text =
        fmt::format("\nmeasured on {}: {} in kernels, median of {}; peaks {} and {} from memory\n",
                    counted(measured.threads, "thread"), quantity(measured.seconds.value, "s"),
                    counted(measured.runs, "run"), quantity(measured.ceiling.flop_in_a_second, "flop/s"),
                    quantity(measured.ceiling.bytes_in_a_second, "B/s"));
    answer.text += fmt::format("  {:<40} {:<14} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>6} {:>6}  {:<6} {}\n",
                               "operator", "class", "flop", "executed", "read", "written", "flop/word",
                               "time", "% peak", "MUE", "in", "bound by");
    for (const OperatorRow& row : measured.rows.operators) {
        answer.json["operators"].push_back(to_json(row, measured.ceiling_of(row)));
        answer.text += line_of(row, measured.ceiling_of(row));
    }
    answer.text += classes_text(classes);
    return answer;
}

}  // namespace viridian::cli
