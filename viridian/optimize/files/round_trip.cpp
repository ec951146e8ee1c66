#include "viridian/optimize/files/round_trip.hpp"

#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::optimize {

Result<graph::Graph> as_read_again(const graph::Graph& graph, const std::vector<std::string>& without) {
    constexpr int most_readings = 4;
    graph::Graph now = graph;
    std::uint64_t hash = structural_hash(now);
    for (int reading = 0; reading < most_readings; ++reading) {
        const auto bytes = onnx::serialize(now);
        if (!bytes.ok() && bytes.error().code == ErrorCode::limit_exceeded) return now;
        if (!bytes.ok()) return bytes.error();
        VIRIDIAN_TRY(now, onnx::parse(*bytes, "the optimised model"));
        VIRIDIAN_TRY(graph::infer_types(now));
        VIRIDIAN_TRY(rewrite::simplify(now, {.without = without}));
        if (const std::uint64_t next = structural_hash(now); next == hash)
            return now;
        else
            hash = next;
    }
    return fail(ErrorCode::broken_invariant, "please report it with the model",
                "the optimised model is another graph each time it is written and read");
}

}  // namespace viridian::optimize
