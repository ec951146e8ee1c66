#include "viridian/onnx/import/unsupported.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace viridian::onnx {
namespace {

constexpr std::size_t nodes_shown = 8;   // per operator; the count is always told
constexpr std::size_t lines_shown = 64;  // of what is not an operator

}  // namespace

void Unsupported::add_operator(const graph::Operator& op, std::string node) {
    Nodes& nodes = operators_[op.qualified_name()];
    if (++nodes.count <= nodes_shown) nodes.first.push_back(fmt::format("`{}`", node));
}

void Unsupported::add(std::string what) {
    if (std::find(others_.begin(), others_.end(), what) != others_.end()) return;
    ++others_count_;
    if (others_.size() < lines_shown) others_.push_back(std::move(what));
}

Result<void> Unsupported::result(std::string_view model) const {
    if (none()) return {};
    std::vector<std::string> lines;
    for (const auto& [op, nodes] : operators_)
        lines.push_back(
            fmt::format("{} ({}: {}{})", op, nodes.count == 1 ? "node" : fmt::format("{} nodes", nodes.count),
                        fmt::join(nodes.first, ", "), nodes.count > nodes.first.size() ? ", …" : ""));
    lines.insert(lines.end(), others_.begin(), others_.end());
    const std::size_t more = others_count_ - others_.size();
    return fail(ErrorCode::unsupported, "see docs/onnx.md for what is supported",
                "`{}` uses what is not supported: {}{}", model, fmt::join(lines, "; "),
                more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace viridian::onnx
