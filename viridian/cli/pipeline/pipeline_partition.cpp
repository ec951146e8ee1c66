// `viridian pipeline partition`: layers → stages, and their profile from a device model.
#include <algorithm>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/pipeline/partition.hpp"
#include "viridian/pipeline/profile/device_models.hpp"
#include "viridian/pipeline/profile/profile_json.hpp"

namespace viridian::cli {
namespace {

struct PartitionOptions {
    std::string layers, balance = "time", device, output;
    int stages = 4, micro_batches = 16;
};

Result<Answer> partition(const PartitionOptions& o) {
    VIRIDIAN_TRY(const std::string text, read_file(o.layers, std::uint64_t{1} << 26));
    VIRIDIAN_TRY(const std::vector<pipeline::Layer> layers, pipeline::read_layers_csv(text, o.layers));
    const pipeline::Balance balance = o.balance == "time"     ? pipeline::Balance::time
                                      : o.balance == "energy" ? pipeline::Balance::energy
                                                              : pipeline::Balance::memory;
    VIRIDIAN_TRY(const std::vector<pipeline::StageRange> stages,
                 pipeline::partition(layers, o.stages, balance, o.micro_batches));
    Answer answer;
    answer.json = {
        {"schema", "viridian.pipeline-partition/1"}, {"balance", o.balance}, {"stages", Json::array()}};
    answer.text = fmt::format(
        "{} layers in {} stages, balanced by {}\n  stage  layers       forward s   backward s   energy J"
        "   activation GB   weights GB   memory GB\n",
        layers.size(), o.stages, o.balance);
    double worst = 0, sum = 0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const pipeline::StageRange& r = stages[s];
        Json names = Json::array();
        for (int l = r.first; l <= r.last; ++l) names.push_back(layers[static_cast<std::size_t>(l)].name);
        answer.json["stages"].push_back({{"first", r.first},
                                         {"last", r.last},
                                         {"layers", std::move(names)},
                                         {"forward", r.forward.value},
                                         {"backward", r.backward.value},
                                         {"energy", r.energy.value},
                                         {"activation_bytes", r.activation.value},
                                         {"weight_bytes", r.weights.value},
                                         {"memory_bytes", r.memory.value}});
        const auto gigabytes = [](Bytes b) { return static_cast<double>(b.value) * 1e-9; };
        answer.text += fmt::format(
            "  {:>5}  {:>4}-{:<5}  {:>10.6f}  {:>11.6f}  {:>9.3f}  {:>14.3f}  {:>11.3f}  {:>10.3f}\n", s,
            r.first, r.last, r.forward.value, r.backward.value, r.energy.value, gigabytes(r.activation),
            gigabytes(r.weights), gigabytes(r.memory));
        worst = std::max(worst, (r.forward + r.backward).value);
        sum += (r.forward + r.backward).value;
    }
    const double imbalance = worst * static_cast<double>(stages.size()) / sum - 1;
    answer.json["time_imbalance"] = imbalance;
    answer.text += fmt::format("  slowest stage {:.2f} % above the mean\n", imbalance * 100);
    if (o.output.empty()) return answer;

    VIRIDIAN_TRY(const pipeline::DeviceModel device,
                 pipeline::find_device_model(o.device.empty() ? "v100" : o.device));
    pipeline::Profile profile;
    for (const pipeline::StageRange& r : stages) {
        pipeline::StageProfile stage;
        stage.of(pipeline::Kind::forward) = model_points(device, r.forward);
        stage.of(pipeline::Kind::backward) = model_points(device, r.backward);
        stage.wait = device.wait;
        stage.activation = r.activation;
        stage.weight_stash = Bytes(r.activation.value / 2);
        stage.weights = r.weights;
        stage.memory = device.memory;
        stage.device = device.name;
        profile.stages.push_back(std::move(stage));
    }
    profile.provenance = {Provenance::Kind::estimated, "device model " + device.name};
    VIRIDIAN_TRY(check_and_sort(profile));
    VIRIDIAN_TRY(write_file(o.output, json_dump(to_json(profile), 1) + "\n"));
    answer.text += fmt::format("  wrote {} (clocks from the {} model: estimates)\n", o.output, device.name);
    return answer;
}

}  // namespace

Subcommand pipeline_partition_subcommand() {
    return {"partition", "Layers to stages: the best contiguous split by time, energy or memory",
            "viridian pipeline partition layers.csv --stages 4 --balance time --device v100 -o stages.json",
            [](App app) -> Action {
                const auto o = std::make_shared<PartitionOptions>();
                app.add_option("layers", o->layers,
                               "CSV `layer,forward,backward[,energy,activation,weights]` (s, J, bytes)")
                    .required();
                app.add_option("--stages", o->stages, "Stages to make").capture_default_str();
                app.add_option("--balance", o->balance, "What to balance")
                    .check(one_of({"time", "energy", "memory"}))
                    .capture_default_str();
                app.add_option("--micro-batches,-m", o->micro_batches, "Micro-batches per iteration (memory)")
                    .check(in_range(1, 1 << 20));
                app.add_option("--device", o->device, "Device model for the clocks of -o");
                app.add_option("-o,--output", o->output, "Write the stages as a profile");
                return [o] { return partition(*o); };
            }};
}

}  // namespace viridian::cli
