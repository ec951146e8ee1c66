// DepthToSpace and SpaceToDepth: blocks of channels become blocks of pixels, and back.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

template <bool to_space>
Result<void> infer_depth(Inference& inference) {
    VIRIDIAN_TRY(expect_rank(inference, 0, 4, 4));
    const std::int64_t block = inference.node().integer("blocksize", 0);
    if (block < 1 || block > 65536)
        return wrong_attribute("`blocksize` of node `{}` is {}", inference.node().name, block);
    std::optional<Shape> out = inference.shape(0);
    const auto scale = [&](Dimension& dimension, std::int64_t by, bool grow) -> Result<void> {
        if (!dimension.known()) {
            dimension = Dimension();
        } else if (grow) {
            dimension = Dimension(dimension.value() * by);
        } else if (dimension.value() % by != 0) {
            return wrong_shape("{} splits {} by blocks of {}", inference.node().op, text(inference.input(0)),
                               block);
        } else {
            dimension = Dimension(dimension.value() / by);
        }
        return {};
    };
    if (out) {
        VIRIDIAN_TRY(scale((*out)[1], block * block, !to_space));
        VIRIDIAN_TRY(scale((*out)[2], block, to_space));
        VIRIDIAN_TRY(scale((*out)[3], block, to_space));
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// Runs over the deep tensor [N, C·b², H, W] and its wide twin [N, C, H·b, W·b].
template <bool to_space, class CallType>
Result<void> rearrange(CallType& call) {
    VIRIDIAN_TRY(prepare(call));
    const auto& x = *call.input(0);
    auto& y = call.outputs[0];
    const Dims& deep = to_space ? x.dims : y.dims;
    const Dims& wide = to_space ? y.dims : x.dims;
    const std::int64_t block = call.node.integer("blocksize", 1);
    const std::int64_t channels = wide[1];
    const bool columns_first = to_space && call.node.get("mode", std::string("DCR")) == "CRD";
    const auto move = [&](const auto& from, auto& to) {
        for (std::int64_t n = 0; n < deep[0]; ++n)
            for (std::int64_t d = 0; d < deep[1]; ++d) {
                const std::int64_t c = columns_first ? d / (block * block) : d % channels;
                const std::int64_t cell = columns_first ? d % (block * block) : d / channels;
                for (std::int64_t i = 0; i < deep[2]; ++i)
                    for (std::int64_t j = 0; j < deep[3]; ++j) {
                        const auto in_deep =
                            static_cast<std::size_t>(((n * deep[1] + d) * deep[2] + i) * deep[3] + j);
                        const auto in_wide = static_cast<std::size_t>(
                            ((n * channels + c) * wide[2] + i * block + cell / block) * wide[3] + j * block +
                            cell % block);
                        if constexpr (to_space)
                            to[in_wide] = from[in_deep];
                        else
                            to[in_deep] = from[in_wide];
                    }
            }
    };
    if (x.floating())
        move(x.real, y.real);
    else
        move(x.integer, y.integer);
    return {};
}

template <bool to_space>
constexpr OperatorRow row_depth(std::string_view name) {
    return movement_row(
        name, {1, 1}, infer_depth<to_space>,
        polynomial_kernel([](auto& call) { return rearrange<to_space>(call); }),
        {.precision = precision::only_moves, .elements = Elements::permuted, .samples = Samples::apart});
}

constexpr OperatorRow depth_rows[] = {row_depth<true>("DepthToSpace"), row_depth<false>("SpaceToDepth")};

}  // namespace

std::span<const OperatorRow> depth_operators() { return depth_rows; }

}  // namespace viridian::graph
