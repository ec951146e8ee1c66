#include "viridian/cli/overview.hpp"

#include "viridian/base/json.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/version.hpp"

namespace viridian::cli {

std::string overview_text(std::span<const CommandGroup> groups) {
    std::string text =
        "Viridian measures where a neural network's energy goes, and lowers it while the outputs stay the "
        "same.\n"
        "\nUsage: viridian COMMAND [ARGUMENTS] [--json] [--quiet | --verbose]\n";
    for (const CommandGroup& group : groups) {
        text += fmt::format("\n{}:\n", group.title);
        for (const Command& command : group.commands)
            text += fmt::format("  {:<10} {}\n", command.name, command.summary);
    }
    return text +
           "\n`viridian help COMMAND` shows the options of a command and an example; `viridian --version` "
           "the "
           "version.\n";
}

Json overview_json(std::span<const CommandGroup> groups) {
    Json json = {{"schema", "viridian.commands/1"}, {"commands", Json::array()}};
    for (const CommandGroup& group : groups)
        for (const Command& command : group.commands)
            json["commands"].push_back({{"name", command.name},
                                        {"summary", command.summary},
                                        {"example", command.example},
                                        {"group", group.title}});
    return json;
}

std::string version_number() { return VIRIDIAN_VERSION; }

std::string version_text() {
    const Machine machine = this_machine();
    return fmt::format("viridian {}, kernels {}\n{}: {}", VIRIDIAN_VERSION, execute::cpu::kernels_version(),
                       machine.cpu_model, fmt::join(machine.instruction_sets, " "));
}

}  // namespace viridian::cli
