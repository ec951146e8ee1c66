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
#include "viridian/session/session.hpp"

namespace viridian::cli {
namespace {

using execute::Peak;
using execute::Probe;
using graph::Graph;
using graph::NodeId;
using graph::OperatorClass;

// One operator of the model, or one of its gradients.
struct OperatorRow {
    std::string name;
    OperatorClass operator_class = OperatorClass::elementwise;
    movement::Demand demand;
    movement::Words words;
    std::optional<Flop> executed = Flop(0);  // none: a kernel computes by an algorithm that does not say it
    Seconds seconds;
};

struct Rows {
    std::vector<OperatorRow> operators;
    std::map<NodeId, std::size_t> of_node;
    Seconds elsewhere;  // views that were copied, changes of layout, and nodes of single elements
};

Result<Rows> rows_of(const Graph& graph) {
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    VIRIDIAN_TRY(const movement::Fusion apart, movement::fuse(graph, movement::FusionRule::none));
    std::map<NodeId, const graph::NodeFlow*> flows;
    for (const graph::NodeFlow& each : flow.nodes) flows[each.node] = &each;
    Rows rows;
    for (const movement::Region& region : apart.regions) {
        OperatorRow row;
        for (const NodeId id : region.nodes) {
            const OperatorClass own = flows[id]->operator_class;
            if (id == region.nodes[0] || own < row.operator_class) row.operator_class = own;
            const graph::Node& node = graph.node(id);
            row.demand.product =
                row.demand.product || node.op == graph::op::MatMul || node.op == graph::op::Gemm;
            row.demand.flop += flows[id]->flop;
            row.name += (row.name.empty() ? "" : ", ") + node.name;
            rows.of_node[id] = rows.operators.size();
        }
        row.demand.moved = movement::bytes_of(graph, region);
        row.words = words_of(graph, region);
        rows.operators.push_back(std::move(row));
    }
    return rows;
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
        const plan::Algorithm algorithm = step.choice.variant.algorithm;
        if (algorithm != plan::Algorithm::direct && algorithm != plan::Algorithm::reference)
            row->executed.reset();
    }
    for (OperatorRow& row : rows.operators)
        if (row.executed) row.executed = row.demand.flop;
}

struct Measured {
    int threads = 1;
    int runs = 0;
    Seconds seconds;  // of all steps
    std::vector<Peak> peaks;
    movement::Ceiling ceiling;
};

// The best of reading, writing and copying counts as the bandwidth of memory.
movement::Ceiling ceiling_of(const std::vector<Peak>& peaks, int threads) {
    const auto best = [&](Probe probe) {
        const Peak* peak = execute::find_peak(peaks, probe, threads);
        return peak == nullptr ? 0 : peak->best;
    };
    const Machine machine = this_machine();
    return {.flop_in_a_second = best(Probe::f32),
            .bytes_in_a_second =
                std::max({best(Probe::memory_read), best(Probe::memory_write), best(Probe::memory_copy)}),
            .near_cache = machine.l2,
            .last_cache = machine.l3};
}

// Takes the median seconds of each step, over some seconds of runs.
Result<Measured> measure(session::LoadedModel model, const session::ModelOptions& options, Rows& rows) {
    constexpr double wanted_seconds = 4;
    VIRIDIAN_TRY(const std::vector<graph::Tensor> inputs, model_inputs(model.graph, {}, 1));
    const execute::PinnedCaller pinned(options.pin);
    VIRIDIAN_TRY(const session::Session session, session::prepare_apart(std::move(model), options));
    Measured result{.threads = session.device->threads(), .seconds = {}, .peaks = {}, .ceiling = {}};
    VIRIDIAN_TRY(result.peaks, execute::probe_peaks(result.threads));
    result.ceiling = ceiling_of(result.peaks, result.threads);
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
    add_times(session.planned.plan, steps, rows);
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
    return text + fmt::format(" {:>9} {:>6.1f} {:>6.1f}  {:<6} {}\n", quantity(row.seconds.value, "s"),
                              found.percent_of_peak, found.mue, name_of(found.residency),
                              name_of(found.bound));
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
            if (std::min(row.operator_class, OperatorClass::elementwise) != each) continue;
            classes.back().flop += static_cast<double>(row.demand.flop.value);
            classes.back().words += static_cast<double>(row.words.moved());
            classes.back().seconds += row.seconds.value;
        }
    }
    classes.push_back({.name = "views and layouts", .seconds = rows.elsewhere.value});
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
    VIRIDIAN_TRY(Rows rows, rows_of(model.graph));
    VIRIDIAN_TRY(const Measured measured, measure(std::move(model), options, rows));
    const std::vector<ClassRow> classes = classes_of(rows);
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
    for (const OperatorRow& row : rows.operators) {
        answer.json["operators"].push_back(to_json(row, measured.ceiling));
        answer.text += line_of(row, measured.ceiling);
    }
    answer.text += classes_text(classes);
    return answer;
}

}  // namespace viridian::cli
