// Writes the states of a graph: before-values as inputs that have an initialiser, which a caller may
// override, and after-values as outputs. The returned text says which belong together.
#include "viridian/base/json.hpp"
#include "viridian/onnx/export/export.hpp"
#include "viridian/onnx/tensors/tensor_proto.hpp"

namespace viridian::onnx {

Result<void> export_first_values(Exporter& exporter, const graph::Graph& graph, const ValueNames& names,
                                 GraphProto& out) {
    for (const graph::State& state : graph.states()) {
        const graph::Tensor* first = graph.first_value(state.before);
        if (first == nullptr) continue;
        TensorProto& proto = *out.add_initializer();
        proto.set_name(names[index(state.before)]);
        bool taken = false;
        if (exporter.sink != nullptr) {
            VIRIDIAN_TRY(taken, exporter.sink->take(*first, proto));
        }
        if (!taken) to_proto(*first, proto);
    }
    return {};
}

std::string text_of_states(const graph::Graph& graph, const ValueNames& names,
                           const std::vector<std::string>& after) {
    if (graph.states().empty()) return {};
    Json list = Json::array();
    for (std::size_t i = 0; i < graph.states().size(); ++i) {
        const graph::State& state = graph.states()[i];
        Json entry = {{"before", names[index(state.before)]},
                      {"after", after[i]},
                      {"role", graph::name_of(state.role)}};
        if (state.of != graph::ValueId::none) entry["of"] = names[index(state.of)];
        list.push_back(std::move(entry));
    }
    return json_dump(list, -1);
}

}  // namespace viridian::onnx
