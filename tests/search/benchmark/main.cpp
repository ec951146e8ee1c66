// search_benchmark [SECONDS]: time, gap and tree width of the exact solver on networks of real shape, and
// what the baselines lose. The kernels are made up (tests/search/structures.cpp); the time limit is of branch
// and bound.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "../structures.hpp"
#include "viridian/search/exact/eliminate.hpp"

namespace {

using namespace viridian;
using namespace viridian::search;

double seconds_of(const std::chrono::steady_clock::time_point& begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void row(const char* name, const tests::Network& net, double limit) {
    const auto begin = std::chrono::steady_clock::now();
    const auto instance = Instance::make(net.graph, net.regions, net.source());
    const double gathered = seconds_of(begin);
    const Objective objective = *parse_objective("0.5*energy+0.5*time");
    AssignOptions options;
    options.exact.time_limit = Seconds(limit);
    const auto start = std::chrono::steady_clock::now();
    const auto exact = solve(*instance, objective, options);
    const double solved = seconds_of(start);
    const Encoding encoding(*instance, objective.weights(exact->start));
    const EliminationOrder order = elimination_order(encoding.problem());
    std::string losses;
    for (const auto& [solver, distance] :
         {std::pair("first", 1), {"shortest-path", 1}, {"greedy", 1}, {"greedy", 2}}) {
        options.solver = *find_solver(solver);
        options.distance = static_cast<std::size_t>(distance);
        const auto other = solve(*instance, objective, options);
        losses += other.ok() ? fmt::format(" {:>8.2f}%",
                                           100 * (other->assignment.value / exact->assignment.value - 1))
                             : fmt::format(" {:>9}", "-");
    }
    fmt::print("{:<28} {:>6} {:>6} {:>5} {:>9.3g} {:>8.3f} {:>8.3f} {:>9.4f} {:>8.3f}%{}\n", name,
               net.regions.size(), encoding.problem().size(), order.width, order.entries, gathered, solved,
               exact->assignment.value, 100 * exact->assignment.gap() / exact->assignment.value, losses);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 10;
    fmt::print("{:<28} {:>6} {:>6} {:>5} {:>9} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "network",
               "region", "variab", "width", "entries", "gather s", "solve s", "value", "gap", "first", "path",
               "greedy 1", "greedy 2");
    using tests::Kernels;
    row("ResNet, 16 blocks", tests::resnet_like(16, {}, 1), limit);
    row("Inception, 11 modules", tests::inception_like(11, {}, 1), limit);
    row("500 nodes, 30 choices", tests::resnet_like(70, {30, 5, 1}, 1), limit);
    row("500 nodes fused, 30 choices", tests::resnet_like(70, {30, 4, 3}, 1), limit);
    row("BERT 12 layers", tests::transformer_like(12, false, {}, 1), limit);
    row("BERT 2 layers fwd+bwd", tests::transformer_like(2, true, {}, 1), limit);
    row("BERT 12 layers fwd+bwd", tests::transformer_like(12, true, {30, 4, 1}, 1), limit);
    row("BERT 12 fwd+bwd fused", tests::transformer_like(12, true, {30, 4, 3}, 1), limit);
    row("dense block, 8 layers", tests::dense_block(8, {30, 4, 1}, 1), limit);
    row("dense block, 24 layers", tests::dense_block(24, {30, 3, 1}, 1), limit);
    row("dense block, 24 l., 4 formats", tests::dense_block(24, {30, 4, 3}, 1), limit);
}
