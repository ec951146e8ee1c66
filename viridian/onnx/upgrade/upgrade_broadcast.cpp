// Operator sets up to 6: broadcasting was asked for, and `axis` said where the second input's dimensions
// begin.
#include "viridian/onnx/upgrade/upgrade.hpp"

namespace viridian::onnx {
namespace {

Result<void> aligned_broadcast(Upgrade& node) {
    const bool asked = node.node.integer("broadcast", 0) != 0;
    const bool placed = node.node.has("axis");
    std::int64_t axis = node.node.integer("axis", 0);
    node.drop("broadcast");
    node.drop("axis");
    node.drop("consumed_inputs");
    if (!asked || !placed || node.node.inputs.size() < 2) return {};
    const auto a = node.input_rank(0);
    const auto b = node.input_rank(1);
    if (!a || !b) return node.unsupported("broadcasting along an axis needs known ranks");
    if (axis < 0) axis += *a;
    const std::int64_t behind = *a - axis - *b;  // dimensions of ones to append
    if (behind < 0 || behind > *a) return node.unsupported("the broadcast axis does not fit");
    if (behind == 0) return {};
    std::vector<std::int64_t> axes;
    for (std::int64_t i = 0; i < behind; ++i) axes.push_back(*b + i);
    node.node.inputs[1] = node.emit("Unsqueeze", {node.node.inputs[1], node.integers("axes", axes)});
    return {};
}

Result<void> drop_broadcast(Upgrade& node) {
    node.drop("broadcast");
    return {};
}

// One slope per channel: the second dimension.
Result<void> slope_per_channel(Upgrade& node) {
    node.drop("consumed_inputs");
    const auto x = node.input_rank(0);
    const auto slope = node.input_rank(1);
    if (!x || !slope) return node.unsupported("the slopes of PRelu need known ranks");
    if (*slope != 1 || *x <= 2) return {};
    std::vector<std::int64_t> axes;
    for (std::int64_t i = 1; i < *x - 1; ++i) axes.push_back(i);
    node.node.inputs[1] = node.emit("Unsqueeze", {node.node.inputs[1], node.integers("axes", axes)});
    return {};
}

constexpr UpgradeRule upgrade_broadcast_rules[] = {
    {"Add", 7, aligned_broadcast},   {"Sub", 7, aligned_broadcast},  {"Mul", 7, aligned_broadcast},
    {"Div", 7, aligned_broadcast},   {"Pow", 7, aligned_broadcast},  {"PRelu", 7, slope_per_channel},
    {"And", 7, aligned_broadcast},   {"Or", 7, aligned_broadcast},   {"Xor", 7, aligned_broadcast},
    {"Equal", 7, aligned_broadcast}, {"Less", 7, aligned_broadcast}, {"Greater", 7, aligned_broadcast},
    {"Gemm", 7, drop_broadcast},
};

}  // namespace

std::span<const UpgradeRule> broadcast_upgrades() { return upgrade_broadcast_rules; }

}  // namespace viridian::onnx
