#include <algorithm>

#include "viridian/graph/infer.hpp"

namespace viridian::graph {
namespace {

constexpr std::size_t most_inputs_listed = 8;

// "`ids` (i64[batch,seq]), `mask` (i64[batch,seq])"
std::string list_of_inputs(const std::vector<const Value*>& inputs) {
    std::string list;
    for (std::size_t i = 0; i < std::min(inputs.size(), most_inputs_listed); ++i)
        list += fmt::format("{}`{}` ({})", i == 0 ? "" : ", ", inputs[i]->name, text(inputs[i]->type));
    if (inputs.size() > most_inputs_listed)
        list += fmt::format(" and {} more", inputs.size() - most_inputs_listed);
    return list;
}

bool has_nameless_dimension(const TensorType& type) {
    return !type.shape || std::ranges::any_of(*type.shape, [](const Dimension& dimension) {
        return !dimension.known() && dimension.symbol().empty();
    });
}

}  // namespace

std::optional<Error> free_dimensions_error(const Graph& graph) {
    std::vector<const Value*> nameless, symbolic;
    std::vector<std::string> symbols;
    for (const ValueId id : graph.inputs()) {
        const Value& value = graph.value(id);
        if (value.type.known()) continue;
        if (has_nameless_dimension(value.type)) {
            nameless.push_back(&value);
            continue;
        }
        symbolic.push_back(&value);
        for (const Dimension& dimension : *value.type.shape)
            if (!dimension.known() && std::ranges::find(symbols, dimension.symbol()) == symbols.end())
                symbols.push_back(dimension.symbol());
    }
    if (!nameless.empty())
        return fail(ErrorCode::unsupported, "export the model with the shapes of its inputs",
                    "these inputs have dimensions without a size or a name: {}", list_of_inputs(nameless));
    if (symbolic.empty()) return std::nullopt;
    std::string options;
    for (const std::string& symbol : symbols) options += fmt::format(" --dim {}=1", symbol);
    return fail(ErrorCode::missing_entry, fmt::format("add{}, or the sizes you serve", options),
                "these inputs have free dimensions: {}", list_of_inputs(symbolic));
}

}  // namespace viridian::graph
