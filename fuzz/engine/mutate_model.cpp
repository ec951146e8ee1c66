#include "fuzz/engine/mutate_model.hpp"

#include "fuzz/engine/mutate_nodes.hpp"
#include "fuzz/engine/mutate_tensors.hpp"

namespace viridian::fuzz {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

constexpr int most_nodes = 40;  // a model that grows beyond this is left to get smaller

bool read(std::string_view bytes, ModelProto& model) {
    return model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && model.has_graph();
}

// The graph of the model, or now and then the body of one of its nodes.
GraphProto& some_graph(ModelProto& model, Random& random) {
    GraphProto* graph = model.mutable_graph();
    while (random.chance(0.3)) {
        std::vector<GraphProto*> bodies;
        for (NodeProto& node : *graph->mutable_node())
            for (AttributeProto& attribute : *node.mutable_attribute())
                if (attribute.has_g()) bodies.push_back(attribute.mutable_g());
        if (bodies.empty()) break;
        graph = bodies[random.below(bodies.size())];
    }
    return *graph;
}

void change_operator_set(ModelProto& model, Random& random) {
    if (model.opset_import_size() == 0) model.add_opset_import();
    auto& set = *model.mutable_opset_import(
        static_cast<int>(random.below(static_cast<std::uint64_t>(model.opset_import_size()))));
    if (random.chance(0.2)) set.set_domain(random.chance(0.5) ? "com.microsoft" : "viridian");
    set.set_version(random.chance(0.1) ? some_integer(random) : random.between(1, 28));
}

void change(ModelProto& model, Random& random) {
    GraphProto& graph = some_graph(model, random);
    switch (random.below(16)) {
        case 0:
        case 1:
        case 2:
            return change_attribute(graph, random);
        case 3:
        case 4:
            return change_initializer(graph, random);
        case 5:
            return change_input_type(graph, random);
        case 6:
        case 7:
            return change_size_everywhere(graph, random);
        case 8:
            return rewire(graph, random);
        case 9:
            return drop_node(graph, random);
        case 10:
            return random.chance(0.5) ? duplicate_node(graph, random) : change_outputs(graph, random);
        case 11:
        case 12:
            return swap_operator(graph, random);
        case 13:
            return append_chain(graph, random);
        case 14:
            return exchange_input_and_initializer(graph, random);
        default:
            return random.chance(0.3) ? change_operator_set(model, random) : change_attribute(graph, random);
    }
}

}  // namespace

std::string mutate_model(std::string_view bytes, Random& random) {
    ModelProto model;
    if (!read(bytes, model)) return {};
    for (std::uint64_t changes = 1 + random.below(random.chance(0.5) ? 1 : 4); changes > 0; --changes)
        change(model, random);
    while (model.graph().node_size() > most_nodes) drop_node(*model.mutable_graph(), random);
    return model.SerializeAsString();
}

std::string graft_model(std::string_view first, std::string_view second, Random& random) {
    ModelProto model, other;
    if (!read(first, model) || !read(second, other)) return {};
    if (model.graph().node_size() + other.graph().node_size() > most_nodes) return {};
    graft(*model.mutable_graph(), *other.mutable_graph(), random);
    for (const auto& set : other.opset_import()) {
        bool known = false;
        for (const auto& mine : model.opset_import()) known = known || mine.domain() == set.domain();
        if (!known) *model.add_opset_import() = set;
    }
    for (const auto& function : other.functions()) *model.add_functions() = function;
    return model.SerializeAsString();
}

}  // namespace viridian::fuzz
