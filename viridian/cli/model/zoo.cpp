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
    viridian::zoo::Options network;
};

Answer list_networks() {
    Answer answer;
    answer.json = {{"schema", "viridian.zoo/1"}, {"networks", Json::array()}};
    for (const viridian::zoo::Network& entry : viridian::zoo::networks()) {
        answer.json["networks"].push_back({{"name", entry.name},
                                           {"description", entry.description},
                                           {"source", entry.source},
                                           {"parameters", entry.parameters},
                                           {"transformer", entry.transformer}});
        answer.text +=
            fmt::format("{:<20} {:>6.1f} M parameters  {:<31} {}\n", entry.name,
                        static_cast<double>(entry.parameters) * 1e-6, entry.description, entry.source);
    }
    return answer;
}

Result<Answer> write_network(const ZooOptions& options) {
    VIRIDIAN_TRY(check_writable(options.output));
    VIRIDIAN_TRY(const graph::Graph network, viridian::zoo::build(options.name, options.network));
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
                app.add_option("--sequence", options->network.sequence, "Transformers: tokens (128)")
                    .check(positive_number());
                app.add_option("--layers", options->network.layers, "Transformers: layers (as published)")
                    .check(positive_number());
                app.add_option("--hidden", options->network.hidden,
                               "Transformers: width, a multiple of 64 (as published)")
                    .check(positive_number());
                return [options] { return run_zoo(*options); };
            }};
}

}  // namespace viridian::cli
