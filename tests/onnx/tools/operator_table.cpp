// operator_table ROOT...: prints the table of docs/reference/operators.md. It opens every model of ONNX's
// backend tests below each ROOT and asks the processor's device which kernels it offers for each node, by
// the element type of the node's first input (of its output, if that input is missing or boolean).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "conformance/case.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::conformance {
namespace {

using graph::ElementType;
constexpr std::array columns = {ElementType::f32, ElementType::f16, ElementType::bf16,
                                ElementType::f64, ElementType::i64, ElementType::i32,
                                ElementType::i8,  ElementType::u8,  ElementType::boolean};

// Whether a fast kernel is offered, by the operator's name and the element type.
using Table = std::map<std::string, std::map<ElementType, bool>>;

ElementType type_of(const graph::Graph& graph, const graph::Node& node) {
    ElementType type = ElementType::undefined;
    if (!node.inputs.empty() && node.inputs[0] != graph::ValueId::none)
        type = graph.value(node.inputs[0]).type.element;
    if ((type == ElementType::undefined || type == ElementType::boolean) && node.inputs.size() != 1 &&
        !node.outputs.empty() && node.outputs[0] != graph::ValueId::none)
        type = graph.value(node.outputs[0]).type.element;
    return type;
}

void add(Table& table, execute::Device& device, const graph::Graph& graph) {
    const auto regions = plan::chain_regions(graph, 1);
    if (!regions.ok()) return;
    for (const plan::Region& region : *regions) {
        const auto choices = device.choices(graph, region);
        if (!choices.ok()) continue;  // a shape that only data tell
        const graph::Node& node = graph.node(region.nodes[0]);
        const bool fast = std::ranges::any_of(*choices, [](const plan::Choice& choice) {
            return choice.variant.algorithm != plan::Algorithm::reference;
        });
        bool& known = table[std::string(node.op.qualified_name())][type_of(graph, node)];
        known = known || fast;
    }
}

void print(const Table& table) {
    fmt::print("| operator |");
    for (const ElementType type : columns) fmt::print(" {} |", name_of(type));
    fmt::print("\n|---|");
    for (std::size_t i = 0; i < columns.size(); ++i) fmt::print("---|");
    fmt::print("\n");
    for (const auto& [name, types] : table) {
        fmt::print("| {} |", name);
        for (const ElementType type : columns) {
            const auto found = types.find(type);
            fmt::print(" {} |", found == types.end() ? "" : found->second ? "fast" : "slow");
        }
        fmt::print("\n");
    }
}

int run(std::span<char*> roots) {
    auto device = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    if (!device.ok()) return fmt::print(stderr, "{}\n", device.error().text()), 2;
    Table table;
    for (const char* root : roots)
        for (const Case& test : find_cases(root)) {
            auto graph = onnx::load(test.model);
            if (!graph.ok() || !graph::infer_types(*graph).ok()) continue;
            add(table, **device, *graph);
        }
    print(table);
    return table.size() < 100;  // the tests were not found
}

}  // namespace
}  // namespace viridian::conformance

int main(int count, char** arguments) {
    return viridian::conformance::run(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
}
