// rooms: search cost zoo rewrite
// outer_search [SECONDS [NETWORK]]: what the outer searches find at equal seconds, on the synthetic
// processor; and backtracking where every graph is assigned as a whole.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "viridian/cost/synthetic.hpp"
#include "viridian/search/graphs/outer.hpp"
#include "viridian/zoo/zoo.hpp"

namespace {

using namespace viridian;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 10;
    const std::string only = argc > 2 ? argv[2] : "";
    for (const char* name : {"squeezenet1_1", "inception_v3", "resnet50", "bert_base"}) {
        if (!only.empty() && only != name) continue;
        auto graph = *zoo::build(name, {});
        (void)rewrite::simplify(graph);
        const cost::PriceSource source = cost::synthetic(1);
        double t = now();
        const auto next = *rewrite::alternatives(graph);
        fmt::print("{}: {} nodes, {} alternatives in {:.1f} ms\n", name, graph.nodes().size(), next.size(),
                   1000 * (now() - t));
        t = now();
        const auto instance = search::Instance::of(graph, source);
        (void)search::solve(*instance, *search::parse_objective("energy"));
        fmt::print("  assigned as a whole in {:.1f} ms\n", 1000 * (now() - t));
        for (const char* objective : {"time", "energy"})
            for (const auto& [method, pricing] :
                 {std::pair(search::OuterMethod::backtracking, search::Pricing::whole),
                  std::pair(search::OuterMethod::backtracking, search::Pricing::local),
                  std::pair(search::OuterMethod::joint, search::Pricing::local)}) {
                search::OuterOptions options;
                options.time_limit = Seconds(limit);
                options.most_graphs = 1000000;
                options.method = method;
                options.pricing = pricing;
                const auto found =
                    search::outer_search(graph, source, *search::parse_objective(objective), options);
                fmt::print(
                    "  {} {} {}: {:.6g} -> {:.6g} in {} graphs ({} whole), {:.1f} s, {:.0f} graphs/s, {}\n",
                    objective, search::name_of(method), pricing == search::Pricing::local ? "local" : "whole",
                    found->improvements[0].best, found->outcome.assignment.value, found->graphs, found->whole,
                    found->seconds.value, static_cast<double>(found->graphs) / found->seconds.value,
                    search::name_of(found->ended_by));
                std::fflush(stdout);
            }
    }
}
