#include "viridian/zoo/zoo.hpp"

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"

#include <memory>

#include "viridian/cli/command.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

struct ZooOptions {
    std::string name;
    std::string output;
    std::string attention, mask;
    viridian::zoo::Options network;
};

constexpr std::pair<std::string_view, viridian::zoo::Attention> attentions[] = {
    {"self", viridian::zoo::Attention::self},
    {"cross", viridian::zoo::Attention::cross},
    {"general", viridian::zoo::Attention::general}};
constexpr std::pair<std::string_view, viridian::zoo::Mask> masks[] = {
    {"none", viridian::zoo::Mask::none},
    {"padding", viridian::zoo::Mask::padding},
    {"causal", viridian::zoo::Mask::causal}};

// The words of a table, and the value of a word that was given.
template <class Table>
std::vector<std::string> words_of(const Table& table) {
    std::vector<std::string> words;
    for (const auto& [word, value] : table) words.emplace_back(word);
    return words;
}
template <class Value, std::size_t size>
std::optional<Value> value_of(const std::pair<std::string_view, Value> (&table)[size],
                              const std::string& given) {
    for (const auto& [word, value] : table)
        if (word == given) return value;
    return std::nullopt;
}

Answer list_networks() {
    Answer answer;
    answer.json = {{"schema", "viridian.zoo/1"}, {"networks", Json::array()}};
    for (const viridian::zoo::Network& entry : viridian::zoo::networks()) {
        answer.json["networks"].push_back({{"name", entry.name},
                                           {"description", entry.description},
                                           {"source", entry.source},
                                           {"parameters", entry.parameters},
                                           {"transformer", entry.transformer}});
        const bool small = entry.parameters < 1'000'000;
        answer.text += fmt::format("{:<20} {:>6.1f} {} parameters  {:<31} {}\n", entry.name,
                                   static_cast<double>(entry.parameters) * (small ? 1e-3 : 1e-6),
                                   small ? "k" : "M", entry.description, entry.source);
    }
    return answer;
}

Result<Answer> write_network(const ZooOptions& options) {
    VIRIDIAN_TRY(check_writable(options.output));
    viridian::zoo::Options choices = options.network;
    choices.attention = value_of(attentions, options.attention);
    choices.mask = value_of(masks, options.mask);
    VIRIDIAN_TRY(const graph::Graph network, viridian::zoo::build(options.name, choices));
    std::error_code unknown;
    const bool replaced = std::filesystem::is_regular_file(options.output, unknown);
    VIRIDIAN_TRY(onnx::save(network, options.output));
    Answer answer;
    answer.json = {{"schema", "viridian.zoo/1"},      {"name", options.name},
                   {"file", options.output},          {"replaced", replaced},
                   {"nodes", network.nodes().size()}, {"inputs", Json::object()},
                   {"outputs", Json::object()}};
    answer.text = fmt::format("{} {}: {} nodes\n", replaced ? "replaced" : "wrote", options.output,
                              network.nodes().size());
    const auto tell = [&](const char* key, const char* what, graph::ValueId id) {
        const graph::Value& value = network.value(id);
        answer.json[key][value.name] = graph::text(value.type);
        answer.text += fmt::format("  {:<6} {:<18} {}\n", what, value.name, graph::text(value.type));
    };
    for (const graph::ValueId id : network.inputs()) tell("inputs", "input", id);
    for (const graph::ValueId id : network.outputs()) tell("outputs", "output", id);
    return answer;
}

Result<Answer> run_zoo(const ZooOptions& options) {
    if (options.name.empty() && options.output.empty()) return list_networks();
    if (options.name.empty())
        return fail(ErrorCode::invalid_argument, "run `viridian zoo` to see the names",
                    "-o needs the name of a network");
    if (options.output.empty())
        return fail(ErrorCode::invalid_argument,
                    fmt::format("run `viridian zoo {0} -o {0}.onnx`", options.name),
                    "there is no file to write `{}` to", options.name);
    return write_network(options);
}

}  // namespace

Command zoo_command() {
    return {"zoo", "Lists or writes the built-in networks",
            "viridian zoo resnet50 --batch 8 -o resnet50.onnx", [](App app) {
                auto options = std::make_shared<ZooOptions>();
                app.add_option("NAME", options->name, "The network; without it all are listed");
                app.add_option("-o,--output", options->output, "The .onnx file to write");
                app.add_option("--batch", options->network.batch, "Images or sentences at once")
                    .capture_default_str();
                app.add_option("--seed", options->network.seed, "Seed of the weights").capture_default_str();
                app.add_flag("--keep-batch-norm", options->network.keep_batch_norm,
                             "Leave batch normalisation unfolded");
                app.add_flag("--training", options->network.training,
                             "The training form: dropout, statistics of the batch");
                app.add_option("--dropout", options->network.dropout,
                               "Training form: rate of every dropout (as published)");
                app.add_option("--sequence", options->network.sequence, "Transformers: tokens (128)")
                    .check(positive_number());
                app.add_option("--layers", options->network.layers, "Transformers: layers (as published)")
                    .check(positive_number());
                app.add_option("--hidden", options->network.hidden,
                               "Transformers: width, a multiple of 64 (as published)")
                    .check(positive_number());
                app.add_option("--heads", options->network.heads, "Transformers: heads (one for every 64)")
                    .check(positive_number());
                app.add_option("--attention", options->attention, "mha: self, cross or general (self)")
                    .check(one_of(words_of(attentions)));
                app.add_option("--keys", options->network.keys,
                               "mha: tokens of keys and values (as many as queries)")
                    .check(positive_number());
                app.add_option("--mask", options->mask, "mha, encoder_layer: none, padding or causal (none)")
                    .check(one_of(words_of(masks)));
                return [options] { return run_zoo(*options); };
            }};
}

}  // namespace viridian::cli
