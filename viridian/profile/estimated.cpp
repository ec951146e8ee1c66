#include "viridian/profile/estimated.hpp"

#include <algorithm>

namespace viridian::profile {
namespace {

constexpr double bytes_per_second = 12e9, flop_per_second = 60e9;  // of one thread
constexpr double start_seconds = 2e-6;                             // of a kernel
constexpr double of_later_kernel = 0.1;   // more, for each kernel that is listed before
constexpr double of_own_buffer = 0.02;    // more, than in the buffer of an input
constexpr double of_other_layout = 0.05;  // more, than in the layout that a convolution's kernel lists first

double bytes_of(const graph::Graph& graph, const std::vector<graph::ValueId>& values) {
    double bytes = 0;
    for (const graph::ValueId id : values)
        if (const graph::TensorType& type = graph.value(id).type; type.known())
            bytes += static_cast<double>(
                plan::buffer_bytes({plan::plain(type.dims().size()), type.element, {}}, type.dims()));
    return bytes;
}

// Views and joins in place have no work to do.
bool has_no_work(const plan::Choice& choice) {
    return choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather;
}

bool is_convolution(const graph::Node& node) {
    return node.op == graph::op::Conv || node.op == graph::op::ConvTranspose ||
           node.op == graph::op::ConvGradInput || node.op == graph::op::ConvGradWeight;
}

std::string layouts_of(const plan::Choice& choice) {
    std::string layouts;
    for (const auto* formats : {&choice.inputs, &choice.outputs})
        for (const plan::Format& format : *formats) layouts += text(format.layout) + " ";
    return layouts;
}

// Epilogues of some libraries make 0 of a NaN. In a training step that would hide that the data are none, so
// there a rectifier is computed together with what comes before it only by kernels that are known to keep it.
bool may_hide_nan(const graph::Graph& graph, const plan::Region& region) {
    if (graph.states().empty()) return false;
    return std::any_of(region.nodes.begin() + 1, region.nodes.end(), [&](graph::NodeId id) {
        return graph.node(id).op == graph::op::Relu || graph.node(id).op == graph::op::Clip;
    });
}

}  // namespace

cost::PriceSource estimated(execute::Device& device) {
    const double threads = device.threads();
    return {[&device, threads](const graph::Graph& graph,
                               const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
                VIRIDIAN_TRY(std::vector<plan::Choice> choices, device.choices(graph, region));
                if (may_hide_nan(graph, region))
                    std::erase_if(choices,
                                  [](const plan::Choice& choice) { return !choice.variant.keeps_nan; });
                const double bytes = bytes_of(graph, region.inputs) + bytes_of(graph, region.constants) +
                                     bytes_of(graph, region.outputs);
                const double least =
                    std::max(bytes / bytes_per_second, plan::flop(graph, region) / flop_per_second) / threads;
                std::vector<cost::PricedChoice> priced;
                const bool ranks_layouts = is_convolution(graph.node(region.nodes.front()));
                std::vector<std::string> names, first_layouts;  // of each kernel
                for (plan::Choice& choice : choices) {
                    if (choice.aliasing == plan::Aliasing::overwrite && !region.dies[choice.overwritten])
                        continue;
                    const auto found = std::ranges::find(names, choice.kernel);
                    const auto rank = static_cast<double>(found - names.begin());
                    if (found == names.end()) {
                        names.push_back(choice.kernel);
                        first_layouts.push_back(layouts_of(choice));
                    }
                    double factor = 1 + of_later_kernel * rank;
                    if (ranks_layouts && layouts_of(choice) != first_layouts[static_cast<std::size_t>(rank)])
                        factor += of_other_layout;
                    if (choice.aliasing == plan::Aliasing::none) factor += of_own_buffer;
                    const Seconds seconds{has_no_work(choice) ? 0 : start_seconds + least * factor};
                    priced.push_back({std::move(choice), {seconds, seconds, seconds, {}}});
                }
                return priced;
            },
            [threads](const graph::Dims& dims, const plan::Format& from,
                      const plan::Format& to) -> Result<cost::Price> {
                const auto bytes =
                    static_cast<double>(plan::buffer_bytes(from, dims) + plan::buffer_bytes(to, dims));
                const Seconds seconds{start_seconds + bytes / bytes_per_second / threads};
                return cost::Price{seconds, seconds, seconds, {}};
            }};
}

}  // namespace viridian::profile
