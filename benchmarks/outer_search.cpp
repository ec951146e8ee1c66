// rooms: search cost zoo rewrite
// outer_search [SECONDS]: what the outer searches find at equal seconds, on the synthetic processor.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "viridian/cost/synthetic.hpp"
#include "viridian/search/outer.hpp"
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
        double t = now();
        (void)rewrite::simplify(graph);
        fmt::print("{}: simplify {:.3f} s, {} nodes\n", name, now() - t, graph.nodes().size());
        const cost::Source source = cost::synthetic(1);
        t = now();
        const auto regions = *plan::candidate_regions(graph);
        fmt::print("  regions {:.4f} s ({})\n", now() - t, regions.size());
        t = now();
        const auto instance = search::Instance::make(graph, regions, source);
        fmt::print("  instance {:.4f} s\n", now() - t);
        t = now();
        (void)search::solve(*instance, *search::parse_objective("energy"));
        fmt::print("  solve {:.4f} s\n", now() - t);
        t = now();
        auto next = *rewrite::alternatives(graph);
        fmt::print("  alternatives {:.4f} s ({})\n", now() - t, next.size());
        t = now();
        for (auto& a : next) (void)rewrite::simplify(a.graph);
        fmt::print("  simplify all {:.4f} s\n", now() - t);
        t = now();
        std::uint64_t sum = 0;
        for (auto& a : next) sum += structural_hash(a.graph);
        fmt::print("  hash all {:.4f} s {}\n", now() - t, sum % 10);
        for (const char* objective : {"time", "energy"})
            for (const auto method : {search::OuterMethod::backtracking, search::OuterMethod::joint}) {
                if (argc > 3 && argv[3] != search::name_of(method)) continue;
                search::OuterOptions options;
                options.time_limit = Seconds(limit);
                options.most_graphs = 1000000;
                options.method = method;
                const auto found =
                    search::outer_search(graph, source, *search::parse_objective(objective), options);
                fmt::print("  {} {}: {:.6g} -> {:.6g} in {} graphs, {:.1f} s, {} applications, {}\n",
                           search::name_of(method), objective, found->improvements[0].best,
                           found->outcome.assignment.value, found->graphs, found->seconds.value,
                           found->certificate.size(), search::name_of(found->ended_by));
                std::fflush(stdout);
            }
    }
}
