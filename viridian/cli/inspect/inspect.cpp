// What a model computes and moves, without running it.
#include <algorithm>
#include <map>
#include <memory>

#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/inspect/inspect_fusion.hpp"
#include "viridian/cli/inspect/inspect_measured.hpp"
#include "viridian/cli/model/model_options.hpp"
#include "viridian/cli/terminal_listener.hpp"
#include "viridian/graph/data_flow.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/session/session.hpp"

namespace viridian::cli {
namespace {

using graph::Graph;
using graph::ValueId;

struct InspectOptions {
    std::string model;
    std::vector<std::string> dimensions;  // N=8
    std::int64_t batch = 0;               // 0: as the model says
    bool nodes = false;
    std::string fusion;  // a fusion rule by name; empty: no regions are looked for
    std::int64_t fast_words = movement::usual_fast_words;
    bool measured = false;
    int threads = 0;  // 0: the default
};

// One line of a table: an operator, or a class.
struct Line {
    std::string name;
    int count = 0;
    int uncounted = 0;
    Flop flop;
    Bytes read;
    Bytes written;

    void add(const graph::NodeFlow& node) {
        ++count;
        uncounted += node.counted ? 0 : 1;
        flop += node.flop;
        read += node.read;
        written += node.written;
    }
    [[nodiscard]] Bytes moved() const { return read + written; }
};

double share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double per_byte(const Line& line) {
    return line.moved().value == 0
               ? 0
               : static_cast<double>(line.flop.value) / static_cast<double>(line.moved().value);
}

Line& line_of(std::vector<Line>& lines, std::string_view name) {
    const auto found =
        std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.name == name; });
    if (found != lines.end()) return *found;
    lines.push_back({.name = std::string(name), .flop = {}, .read = {}, .written = {}});
    return lines.back();
}

// Sums by operator (most flop, then most bytes, first) and by class.
struct Tables {
    std::vector<Line> operators;
    std::vector<Line> classes;
    Line all{.name = "all", .flop = {}, .read = {}, .written = {}};
};

Tables tables_of(const Graph& graph, const graph::DataFlow& flow) {
    Tables tables;
    for (const graph::NodeFlow& node : flow.nodes) {
        const graph::Node& source = graph.node(node.node);
        line_of(tables.operators, source.op.qualified_name()).add(node);
        line_of(tables.classes, graph::name_of(node.operator_class)).add(node);
        tables.all.add(node);
    }
    const auto larger = [](const Line& a, const Line& b) {
        return std::tuple(a.flop, a.moved(), b.name) > std::tuple(b.flop, b.moved(), a.name);
    };
    std::sort(tables.operators.begin(), tables.operators.end(), larger);
    std::sort(tables.classes.begin(), tables.classes.end(), larger);
    return tables;
}

Json to_json(const Line& line, const Line& all) {
    return {{"name", line.name},
            {"count", line.count},
            {"uncounted", line.uncounted},
            {"flop", line.flop.value},
            {"flop_share", share(line.flop.value, all.flop.value)},
            {"bytes_read", line.read.value},
            {"bytes_written", line.written.value},
            {"bytes_share", share(line.moved().value, all.moved().value)},
            {"flop_per_byte", per_byte(line)}};
}

Json values_json(const Graph& graph, const std::vector<ValueId>& ids) {
    Json list = Json::array();
    for (const ValueId id : ids)
        list.push_back(id == ValueId::none ? Json()
                                           : Json({{"name", graph.value(id).name},
                                                   {"type", graph::text(graph.value(id).type)}}));
    return list;
}

Json states_json(const Graph& graph) {
    Json list = Json::array();
    for (const graph::State& state : graph.states()) {
        Json entry = {{"name", graph.value(state.before).name},
                      {"type", graph::text(graph.value(state.before).type)},
                      {"role", graph::name_of(state.role)},
                      {"new_value", graph.value(state.after).name}};
        if (state.of != ValueId::none) entry["of"] = graph.value(state.of).name;
        list.push_back(std::move(entry));
    }
    return list;
}

// "  states  9 parameters, 9 moments, 1 counter: 1.2 MB"
std::string states_text(const Graph& graph, Bytes bytes) {
    if (graph.states().empty()) return {};
    std::map<graph::StateRole, int> counts;
    for (const graph::State& state : graph.states()) ++counts[state.role];
    std::string roles;
    for (const auto& [role, count] : counts)
        roles += fmt::format("{}{} {}{}", roles.empty() ? "" : ", ", count, graph::name_of(role),
                             count == 1 ? "" : "s");
    return fmt::format("  states  {}: {}\n", roles, quantity(static_cast<double>(bytes.value), "B"));
}

Json to_json(const Graph& graph, const graph::NodeFlow& flow) {
    const graph::Node& node = graph.node(flow.node);
    Json json = {{"name", node.name},
                 {"operator", node.op.name()},
                 {"class", graph::name_of(flow.operator_class)},
                 {"origin", node.origin},
                 {"inputs", values_json(graph, node.inputs)},
                 {"outputs", values_json(graph, node.outputs)}};
    if (node.phase != graph::Phase::forward) json["phase"] = graph::name_of(node.phase);
    if (!node.twin.empty()) json["twin"] = node.twin;
    const auto number = [&](auto value) { return flow.counted ? Json(value) : Json(); };  // null: not known
    json["flop"] = number(flow.flop.value);
    json["bytes_read"] = number(flow.read.value);
    json["bytes_written"] = number(flow.written.value);
    json["flop_per_byte"] = number(flow.intensity());
    return json;
}

std::vector<std::string> free_symbols(const Graph& graph) {
    std::vector<std::string> symbols;
    for (const ValueId id : graph.inputs())
        if (graph.value(id).type.shape)
            for (const graph::Dimension& dimension : *graph.value(id).type.shape)
                if (!dimension.symbol().empty() &&
                    std::find(symbols.begin(), symbols.end(), dimension.symbol()) == symbols.end())
                    symbols.push_back(dimension.symbol());
    return symbols;
}

std::string table_text(const char* title, const std::vector<Line>& lines, const Line& all) {
    std::string text = fmt::format("  {:<24} {:>6} {:>12} {:>7} {:>10} {:>10} {:>7} {:>10}\n", title, "count",
                                   "flop", "share", "read", "written", "share", "flop/byte");
    for (const Line& line : lines)
        text += fmt::format("  {:<24} {:>6} {:>12} {:>5.1f} % {:>10} {:>10} {:>5.1f} % {:>10.2f}{}\n",
                            line.name, line.count, quantity(static_cast<double>(line.flop.value), ""),
                            share(line.flop.value, all.flop.value),
                            quantity(static_cast<double>(line.read.value), "B"),
                            quantity(static_cast<double>(line.written.value), "B"),
                            share(line.moved().value, all.moved().value), per_byte(line),
                            line.uncounted > 0 ? fmt::format("  ({} not counted)", line.uncounted) : "");
    return text;
}

std::string nodes_text(const Graph& graph, const graph::DataFlow& flow) {
    std::string text = "\n";
    for (const graph::NodeFlow& node : flow.nodes) {
        const graph::Node& source = graph.node(node.node);
        const ValueId output = source.output(0);
        text += fmt::format("  {:<40} {:<20} {:<24} {:>12} {:>10} {:>10}\n", source.name, source.op,
                            output == ValueId::none ? "" : graph::text(graph.value(output).type),
                            node.counted ? quantity(static_cast<double>(node.flop.value), "") : "?",
                            node.counted ? quantity(static_cast<double>(node.read.value), "B") : "?",
                            node.counted ? quantity(static_cast<double>(node.written.value), "B") : "?");
    }
    return text;
}

std::string summary_text(const InspectOptions& options, const Graph& graph, const graph::DataFlow& flow,
                         const Tables& tables) {
    std::string text = fmt::format(
        "{}: {}, {}parameters, {} of constants, {} of activations at once\n", options.model,
        counted(flow.nodes.size(), "node"), quantity(static_cast<double>(flow.parameters), ""),
        quantity(static_cast<double>(flow.constants.value), "B"),
        flow.peak_activations ? "at most " + quantity(static_cast<double>(flow.peak_activations->value), "B")
                              : std::string("an unknown size"));
    for (const ValueId id : graph.inputs())
        text += fmt::format("  input   {:<24} {}\n", graph.value(id).name, graph::text(graph.value(id).type));
    for (const ValueId id : graph.outputs())
        text += fmt::format("  output  {:<24} {}\n", graph.value(id).name, graph::text(graph.value(id).type));
    text += states_text(graph, flow.states);
    text += "\n" + table_text("operator", tables.operators, tables.all);
    text += "\n" + table_text("class", tables.classes, tables.all) +
            table_text("", {tables.all}, tables.all).substr(0);
    if (options.nodes) text += nodes_text(graph, flow);
    for (const std::string& symbol : free_symbols(graph))
        text += fmt::format(
            "\nDimension `{0}` is free, so its nodes are not counted: give it with --dim {0}=8\n", symbol);
    return text;
}

Result<Answer> inspect(const InspectOptions& options) {
    const session::ModelFiles files = session::files_of(options.model);
    if (files.plan && !options.measured)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("add --measured, or inspect `{}`", files.model.string()),
                    "`{}` is a plan, and `inspect` can only measure its kernels", options.model);
    VIRIDIAN_TRY(Graph graph, onnx::load(files.model.string()));
    VIRIDIAN_TRY(session::bind_sizes(graph, options.dimensions, options.batch));
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    const Tables tables = tables_of(graph, flow);

    Answer answer;
    answer.json = {
        {"schema", "viridian.inspect/1"},
        {"model", options.model},
        {"inputs", values_json(graph, graph.inputs())},
        {"outputs", values_json(graph, graph.outputs())},
        {"free_dimensions", free_symbols(graph)},
        {"parameters", flow.parameters},
        {"memory",
         {{"constants_bytes", flow.constants.value},
          {"peak_activation_bytes", flow.peak_activations ? Json(flow.peak_activations->value) : Json()}}},
        {"total", to_json(tables.all, tables.all)},
        {"classes", Json::array()},
        {"operators", Json::array()},
        {"nodes", Json::array()}};
    if (!graph.states().empty()) {
        answer.json["states"] = states_json(graph);
        answer.json["memory"]["states_bytes"] = flow.states.value;
    }
    for (const Line& line : tables.classes) answer.json["classes"].push_back(to_json(line, tables.all));
    for (const Line& line : tables.operators) answer.json["operators"].push_back(to_json(line, tables.all));
    for (const graph::NodeFlow& node : flow.nodes) answer.json["nodes"].push_back(to_json(graph, node));
    answer.text = summary_text(options, graph, flow, tables);
    if (const auto rule = movement::parse_fusion_rule(options.fusion)) {
        VIRIDIAN_TRY(const FusionAnswer fusion, describe_fusion(graph, *rule, options.fast_words));
        answer.json["fusion"] = fusion.json;
        answer.text += fusion.text;
    }
    if (options.measured) {
        session::ModelOptions run;
        run.model = options.model;
        run.dimensions = options.dimensions;
        run.batch = options.batch;
        run.threads = options.threads;
        TerminalListener listener;
        VIRIDIAN_TRY(MeasuredAnswer measured, describe_measured(run, listener));
        answer.json["measured"] = std::move(measured.json);
        answer.text += measured.text;
    }
    return answer;
}

}  // namespace

Command inspect_command() {
    return {
        "inspect", "Operators, flop, bytes moved, flop per byte, classes and memory of a model",
        "viridian inspect resnet50.onnx --dim N=8", [](App app) {
            auto options = std::make_shared<InspectOptions>();
            app.add_option(
                   "model", options->model,
                   "An .onnx file; with --measured also a .plan.json of `optimize`, to measure its kernels")
                .required();
            app.add_option("--dim", options->dimensions,
                           "Size of a symbolic dimension, as N=8; may be repeated");
            app.add_option("--batch", options->batch, "Bind the inputs' first dimension")
                .check(in_range(std::int64_t{1}, std::int64_t{1} << 20));
            app.add_flag("--nodes", options->nodes, "List every node too");
            app.add_option("--fusion", options->fusion,
                           "List the regions, each of which one kernel may compute, and the words that "
                           "they move. none: each operator is a region; published: SUBSTATION's rules "
                           "join operators; free: contractions join too")
                .check(one_of({"none", "published", "free"}));
            app.add_option("--fast-words", options->fast_words,
                           "For --fusion free: words of fast memory that the operands of a region's "
                           "contractions may fill, if it computes one of them itself (262144 by default, "
                           "1 MiB of f32)")
                .check(in_range(std::int64_t{1}, std::int64_t{1} << 40))
                .needs("--fusion");
            app.add_flag("--measured", options->measured,
                         "Run the model and probe the processor: time, share of peak and memory usage "
                         "efficiency of each operator");
            app.add_option("--threads", options->threads, "Threads of --measured (all cores by default)")
                .check(in_range(1, 1024))
                .needs("--measured");
            return [options] { return inspect(*options); };
        }};
}

}  // namespace viridian::cli
