// rooms: cli
// eago [--recorded FILE]: the five tables of EAGO (Wang, Ge, Qiu 2020), with this machine's prices or with
// recorded ones, as Markdown beside the paper's numbers. Prices are kept in the database: a run that was
// broken off goes on where it was.
#include <CLI/CLI.hpp>
#include <chrono>

#include "tables.hpp"
#include "viridian/base/file.hpp"
#include "viridian/cli/model/model_options.hpp"

namespace viridian::eago {
namespace {

struct Options {
    session::ModelOptions model;
    std::string recorded, output;
    std::vector<std::string> only;  // networks
    Budget budget;
    double seconds = 60;
};

Result<void> reproduce(const Options& options) {
    const auto started = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    };
    VIRIDIAN_TRY(Laboratory laboratory,
                 options.recorded.empty() ? open_measured(options.model) : open_recorded(options.recorded));
    std::string out = fmt::format(
        "# EAGO's experiments{}\n\nHardware: {}. Prices: {}. Joules: {}. The paper's: one NVIDIA Tesla V100, "
        "nvidia-smi. "
        "Searches: Algorithm 1, α = 1.05, at most {} graphs or {} s each; assignments exact.\n",
        options.recorded.empty() ? "" : ", recorded prices", laboratory.hardware, laboratory.prices,
        laboratory.joules, options.budget.graphs, options.budget.seconds.value);
    const auto add = [&](Result<std::string> table) -> Result<void> {
        VIRIDIAN_TRY(const std::string text, std::move(table));
        out += "\n" + text;
        fmt::print("\n{}", text);
        std::fflush(stdout);
        fmt::print(stderr, "{:.0f} s\n", elapsed());
        return {};
    };
    if (laboratory.costs)
        laboratory.costs->progress = [last = 0.0, &elapsed](const std::string& what) mutable {
            if (elapsed() - last < 5) return;
            last = elapsed();
            fmt::print(stderr, "{:.0f} s: measuring {}\n", last, what);
        };
    fmt::print("{}", out);
    const auto wanted = [&](const std::string& name) {
        return options.only.empty() ||
               std::find(options.only.begin(), options.only.end(), name) != options.only.end();
    };
    if (wanted("table1")) VIRIDIAN_TRY(add(table_one(laboratory)));
    for (const Network& network : networks) {
        if (!wanted(network.name)) continue;
        VIRIDIAN_TRY(Study study, Study::make(laboratory, network.name, options.budget));
        if (network.paper == 0) VIRIDIAN_TRY(add(table_two(laboratory, study)));
        VIRIDIAN_TRY(add(table_three(laboratory, study, network)));
        if (network.paper != 0) continue;
        VIRIDIAN_TRY(add(table_four(laboratory, study)));
        VIRIDIAN_TRY(add(table_five(laboratory, study)));
    }
    const std::string end =
        laboratory.costs
            ? fmt::format("\n{:.0f} s in all; {} prices from the database, {} measured in {:.0f} s.\n",
                          elapsed(), laboratory.costs->counts().hits, laboratory.costs->counts().misses,
                          laboratory.costs->counts().measuring.value)
            : fmt::format("\n{:.0f} s in all.\n", elapsed());
    fmt::print("{}", end);
    return options.output.empty() ? Result<void>{} : write_file(options.output, out + end);
}

}  // namespace
}  // namespace viridian::eago

int main(int count, char** arguments) {
    CLI::App app("EAGO's experiments");
    viridian::eago::Options options;
    viridian::cli::add_cost_options(viridian::cli::App(&app), options.model);
    app.add_option("--threads", options.model.threads, "Default: physical cores");
    app.add_option("--recorded", options.recorded, "Prices from this file; nothing is timed");
    app.add_option("--only", options.only, "table1, squeezenet1_1, inception_v3, resnet50 (default: all)");
    app.add_option("--graphs", options.budget.graphs, "Graphs per search")->capture_default_str();
    app.add_option("--seconds", options.seconds, "Seconds per search")->capture_default_str();
    app.add_option("-o,--output", options.output, "Write the tables to this file");
    CLI11_PARSE(app, count, arguments);
    options.budget.seconds = viridian::Seconds(options.seconds);
    const auto done = viridian::eago::reproduce(options);
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
