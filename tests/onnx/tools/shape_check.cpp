// shape_check [--least N] [--least-inner N] [--zoo] [ROOT|MODEL]...: types and shapes as our operator table
// infers them against ONNX's own inference (Debian's libonnx), for every value of the main graph and of the
// bodies of If, Loop and Scan, declared types taken away. Where ONNX knows an element type, a rank or an
// extent, ours must say the same: its plain inference against the graph as read, its inference with data
// propagation against the graph simplified (where fold_shapes does that work). Differences are printed. Exit
// code 1 where there is one, or fewer than N values (inner ones: of bodies) were compared.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <fstream>
#include <iterator>
#include <map>

#include "conformance/case.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::conformance {
namespace {

// Inputs keep their types: both sides start there.
void forget_types(::onnx::GraphProto& graph) {
    graph.clear_value_info();
    for (auto& output : *graph.mutable_output()) output.clear_type();
    for (auto& node : *graph.mutable_node())
        for (auto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) forget_types(*attribute.mutable_g());
}

// Writes what ONNX infers into the model; false where it gives up.
bool infer_theirs(::onnx::ModelProto& model, bool propagate) {
    try {
        ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(),
                                             {false, 0, propagate});
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

std::map<std::string, ::onnx::TypeProto> types_in(const ::onnx::GraphProto& graph) {
    std::map<std::string, ::onnx::TypeProto> types;
    for (const auto* values : {&graph.value_info(), &graph.output()})
        for (const auto& value : *values)
            if (value.has_type()) types[value.name()] = value.type();
    return types;
}

std::string text_of(const ::onnx::TypeProto_Tensor& type) {
    std::string text = fmt::format("type {}", type.elem_type());
    if (!type.has_shape()) return text;
    for (const auto& dim : type.shape().dim())
        text += dim.has_dim_value() ? fmt::format(" {}", dim.dim_value()) : " ?";
    return text;
}

bool agrees(const ::onnx::TypeProto_Tensor& theirs, const graph::TensorType& ours) {
    if (theirs.elem_type() != 0 && theirs.elem_type() != graph::onnx_code_of(ours.element)) return false;
    if (!theirs.has_shape()) return true;
    if (!ours.shape || static_cast<int>(ours.shape->size()) != theirs.shape().dim_size()) return false;
    for (int i = 0; i < theirs.shape().dim_size(); ++i) {
        const graph::Dimension& extent = (*ours.shape)[static_cast<std::size_t>(i)];
        if (theirs.shape().dim(i).has_dim_value() &&
            (!extent.known() || extent.value() != theirs.shape().dim(i).dim_value()))
            return false;
    }
    return true;
}

struct Tally {
    int models = 0, unread = 0, given_up = 0, bad = 0;
    std::size_t values = 0, inner = 0, extents = 0;  // inner: values of bodies
};

void compare_bodies(const std::string& name, const ::onnx::GraphProto& theirs, const graph::Graph& ours,
                    Tally& tally);

void compare(const std::string& name, const ::onnx::GraphProto& theirs_graph, const graph::Graph& ours,
             Tally& tally, bool inside = false) {
    const auto theirs = types_in(theirs_graph);
    for (std::size_t i = 0; i < ours.value_count(); ++i) {
        const auto id = static_cast<graph::ValueId>(i);
        const graph::Value& value = ours.value(id);
        if (value.kind == graph::ValueKind::intermediate && ours.producer(id) == nullptr)
            continue;  // simplified away
        const auto found = theirs.find(value.name);
        if (found == theirs.end() || !found->second.has_tensor_type()) continue;
        const auto& type = found->second.tensor_type();
        ++tally.values;
        tally.inner += inside ? 1 : 0;
        for (const auto& dim : type.shape().dim()) tally.extents += dim.has_dim_value() ? 1 : 0;
        if (agrees(type, value.type)) continue;
        ++tally.bad;
        fmt::print("{}: `{}` is {} here, {} by ONNX\n", name, value.name, text(value.type), text_of(type));
    }
    compare_bodies(name, theirs_graph, ours, tally);
}

// The node of ours with the same operator and first output; null where it was simplified away.
const graph::Node* same_node(const ::onnx::NodeProto& node, const graph::Graph& ours) {
    for (const graph::NodeId id : ours.nodes()) {
        const graph::Node& own = ours.node(id);
        if (own.op.name() == node.op_type() && own.outputs[0] != graph::ValueId::none &&
            ours.value(own.outputs[0]).name == node.output(0))
            return &own;
    }
    return nullptr;
}

void compare_bodies(const std::string& name, const ::onnx::GraphProto& theirs, const graph::Graph& ours,
                    Tally& tally) {
    const std::map<std::string_view, std::size_t> places = {
        {"then_branch", 0}, {"else_branch", 1}, {"body", 0}};
    for (const auto& node : theirs.node())
        for (const auto& attribute : node.attribute()) {
            const auto place = places.find(attribute.name());
            if (!attribute.has_g() || place == places.end()) continue;
            const graph::Node* same = same_node(node, ours);
            if (same == nullptr || place->second >= same->bodies.size()) continue;
            compare(fmt::format("{}/{}", name, attribute.name()), attribute.g(), *same->bodies[place->second],
                    tally, true);
        }
}

void check(const std::string& name, const std::string& bytes, Tally& tally) {
    ::onnx::ModelProto model;
    if (!model.ParseFromString(bytes)) return;
    forget_types(*model.mutable_graph());
    auto ours = onnx::parse(model.SerializeAsString(), name);
    ++tally.models;
    if (!ours.ok()) {
        ++tally.unread;
        return;
    }
    for (const bool simplified : {false, true}) {
        ::onnx::ModelProto theirs = model;
        if (simplified && !rewrite::simplify(*ours).ok()) {
            fmt::print("{}: does not simplify\n", name);
            ++tally.bad;
        } else if (!infer_theirs(theirs, simplified)) {
            ++tally.given_up;
        } else {
            compare(name, theirs.graph(), *ours, tally);
        }
    }
}

void check_file(const std::string& name, const Path& path, Tally& tally) {
    std::ifstream file(path, std::ios::binary);
    check(name, {std::istreambuf_iterator<char>(file), {}}, tally);
}

Result<void> check_zoo(Tally& tally) {
    for (const zoo::Network& entry : zoo::networks()) {
        const bool layered = entry.transformer && !entry.single_layer;
        VIRIDIAN_TRY(const graph::Graph graph, zoo::build(entry.name, {.layers = layered ? 2 : 0}));
        VIRIDIAN_TRY(const std::string bytes, onnx::serialize(graph));
        check(std::string(entry.name), bytes, tally);
    }
    return {};
}

Result<bool> run(const std::vector<std::string>& arguments) {
    Tally tally;
    std::size_t least = 1, least_inner = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Path path = arguments[i];
        if (arguments[i] == "--least") {
            least = std::stoul(arguments[++i]);
        } else if (arguments[i] == "--least-inner") {
            least_inner = std::stoul(arguments[++i]);
        } else if (arguments[i] == "--zoo") {
            VIRIDIAN_TRY(check_zoo(tally));
        } else if (path.extension() == ".onnx") {
            check_file(path.stem().string(), path, tally);
        } else {
            for (const Case& test : find_cases(path)) check_file(test.name, test.model, tally);
        }
    }
    fmt::print(
        "{} models ({} not read by us; {} inferences given up by ONNX), {} values ({} in bodies) with {} "
        "extents compared, {} differ\n",
        tally.models, tally.unread, tally.given_up, tally.values, tally.inner, tally.extents, tally.bad);
    return tally.bad == 0 && tally.values >= least && tally.inner >= least_inner;
}

}  // namespace
}  // namespace viridian::conformance

int main(int count, char** arguments) {
    const auto good = viridian::conformance::run(std::vector<std::string>(arguments + 1, arguments + count));
    if (!good.ok()) fmt::print(stderr, "{}\n", good.error().text());
    return good.ok() && *good ? 0 : 1;
}
