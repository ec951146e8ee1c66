// rooms: rewrite graph base
// A certificate, followed on a small network: any text is an error, or steps that survive being written and
// read.
#include <cstddef>

#include "viridian/base/json.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/certificate.hpp"

namespace {

using namespace viridian;

graph::Tensor zeros(graph::Dims dims) { return {graph::ElementType::f32, std::move(dims)}; }

// A convolution with a scale to fold, an identity and a pad: rules that always pay have work here.
graph::Graph network() {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 4, 4, 4})});
    const auto weights = graph.add_constant("w", zeros({4, 4, 1, 1}));
    const auto scale = graph.add_constant("scale", zeros({1, 4, 1, 1}));
    const auto conv = graph.add("Conv", {x, weights}, {}, "conv");
    const auto scaled = graph.add("Mul", {conv, scale}, {}, "scaled");
    const auto same = graph.add("Identity", {scaled}, {}, "same");
    graph.set_outputs({graph.add("Relu", {same}, {}, "relu")});
    if (!graph::infer_types(graph).ok()) __builtin_trap();
    return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const graph::Graph graph = network();
    auto json = parse_json({reinterpret_cast<const char*>(data), size}, "certificate");
    if (!json.ok()) return 0;
    const auto file = rewrite::certificate_of(*json);
    if (!file.ok()) return 0;
    const Json written = rewrite::to_json(*file);
    const auto again = rewrite::certificate_of(written);
    if (!again.ok() || rewrite::to_json(*again) != written) __builtin_trap();
    const auto replayed = rewrite::replay_file(graph, *file);
    if (replayed.ok() && structural_hash(*replayed) != file->final_hash) __builtin_trap();
    return 0;
}
