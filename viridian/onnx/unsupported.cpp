#include "viridian/onnx/unsupported.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace viridian::onnx {
namespace {

constexpr std::size_t nodes_shown = 8;  // per operator; the count is always told
constexpr std::size_t lines_shown = 64;

std::string line(const std::string& op, const std::vector<std::string>& nodes) {
    const auto shown = std::span(nodes).first(std::min(nodes.size(), nodes_shown));
    return fmt::format("{} ({}: {}{})", op,
                       nodes.size() == 1 ? "node" : fmt::format("{} nodes", nodes.size()),
                       fmt::join(shown, ", "), nodes.size() > shown.size() ? ", …" : "");
}

}  // namespace

void Unsupported::add_operator(const std::string& domain, const std::string& op, std::string node) {
    operators_[domain.empty() ? op : domain + "." + op].push_back(fmt::format("`{}`", node));
}

void Unsupported::add(std::string what) {
    if (std::find(others_.begin(), others_.end(), what) == others_.end()) others_.push_back(std::move(what));
}

Result<void> Unsupported::result(std::string_view model) const {
    if (operators_.empty() && others_.empty()) return {};
    std::vector<std::string> lines;
    for (const auto& [op, nodes] : operators_) lines.push_back(line(op, nodes));
    lines.insert(lines.end(), others_.begin(), others_.end());
    const std::size_t all = lines.size();
    if (all > lines_shown) lines.resize(lines_shown);
    return fail(ErrorCode::unsupported, "see docs/onnx.md for what is supported",
                "`{}` uses what is not supported: {}{}", model, fmt::join(lines, "; "),
                all > lines_shown ? fmt::format("; and {} more", all - lines_shown) : "");
}

}  // namespace viridian::onnx
