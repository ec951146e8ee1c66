// model_tool resave ROOT OUT      every backend test below ROOT that loads, to OUT/<group>__<test>.onnx
// model_tool resave-one IN OUT    one model
// model_tool private OUT          a model of a private operator with a body
// model_tool step OUT FOLDER     a training step, to FOLDER its inputs and what the third step gives
// model_tool masks OUT            a model of DropoutMasks of several shapes and streams
// model_tool run MODEL FOLDER     reads FOLDER/input_N.npy, writes FOLDER/output_N.npy; reference kernels
// model_tool weights MODEL FOLDER like run, with FOLDER/NAME.npy in place of the constant NAME; also writes
//                                 the mask of each Dropout to FOLDER/mask_NAME.npy, and the new statistics
//                                 of each BatchNormalization under the names of these values
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "conformance/case.hpp"
#include "tests/support/training_step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"

namespace viridian::conformance {
namespace {

Result<void> resave(const Path& from, const Path& to) {
    VIRIDIAN_TRY(const graph::Graph graph, onnx::load(from));
    return onnx::save(graph, to);
}

Result<void> resave_all(const Path& root, const Path& out) {
    int written = 0;
    for (const Case& test : find_cases(root)) {
        std::string name = test.name;
        name.replace(name.find('/'), 1, "__");
        const auto done = resave(test.model, out / (name + ".onnx"));
        if (!done.ok() && done.error().code != ErrorCode::unsupported)
            return fail(done.error().code, done.error().next_step, "{}: {}", test.name, done.error().message);
        written += done.ok() ? 1 : 0;
    }
    fmt::print("{} models written\n", written);
    return {};
}

Result<void> run(const Path& model, const Path& folder) {
    VIRIDIAN_TRY(const graph::Graph graph, onnx::load(model));
    std::vector<graph::Tensor> inputs;
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        VIRIDIAN_TRY(onnx::NamedTensor input,
                     onnx::read_tensor_file(folder / fmt::format("input_{}.npy", i)));
        inputs.push_back(std::move(input.tensor));
    }
    VIRIDIAN_TRY(const auto outputs, graph::evaluate(graph, inputs));
    for (std::size_t i = 0; i < outputs.size(); ++i)
        VIRIDIAN_TRY(onnx::write_tensor_file(folder / fmt::format("output_{}.npy", i), {"", outputs[i]}));
    return {};
}

Result<void> run_with_weights(const Path& model, const Path& folder) {
    VIRIDIAN_TRY(graph::Graph graph, onnx::load(model));
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<graph::ValueId>(i);
        const Path file = folder / (graph.value(id).name + ".npy");
        if (graph.constant(id) == nullptr || !std::filesystem::exists(file)) continue;
        VIRIDIAN_TRY(onnx::NamedTensor weight, onnx::read_tensor_file(file));
        if (weight.tensor.tensor_type() != graph.value(id).type)
            return fail(ErrorCode::mismatch, "give weights of the model's types", "`{}` is {}, not {}",
                        graph.value(id).name, graph::text(graph.value(id).type),
                        graph::text(weight.tensor.tensor_type()));
        const graph::ValueId other = graph.add_constant("weight", std::move(weight.tensor));
        graph.replace_uses(id, other);
    }
    std::vector<std::string> files;
    std::vector<graph::ValueId> outputs = graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) files.push_back(fmt::format("output_{}", i));
    for (const graph::NodeId id : graph.nodes()) {
        graph::Node node = graph.node(id);
        if (node.op == graph::op::BatchNormalization)
            for (std::size_t i = 1; i < node.outputs.size(); ++i) {
                outputs.push_back(node.outputs[i]);
                files.push_back(graph.value(node.outputs[i]).name);
            }
        if (node.op != graph::op::Dropout) continue;
        const graph::ValueId value = node.outputs[0];
        const graph::NodeId other = graph.add_node(node, 2);
        files.push_back("mask_" + node.name);
        std::ranges::replace(outputs, value, graph.node(other).outputs[0]);
        graph.replace_uses(value, graph.node(other).outputs[0]);
        outputs.push_back(graph.node(other).outputs[1]);
    }
    graph.set_outputs(outputs);
    std::vector<graph::Tensor> inputs;
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        VIRIDIAN_TRY(onnx::NamedTensor input,
                     onnx::read_tensor_file(folder / fmt::format("input_{}.npy", i)));
        inputs.push_back(std::move(input.tensor));
    }
    VIRIDIAN_TRY(const auto results, graph::evaluate(graph, inputs));
    for (std::size_t i = 0; i < results.size(); ++i)
        VIRIDIAN_TRY(onnx::write_tensor_file(folder / (files[i] + ".npy"), {"", results[i]}));
    return {};
}

// x + 2y and 2x of a private operator with a body, twice, for other runtimes to run.
Result<void> write_private(const Path& out) {
    const graph::TensorType type{graph::ElementType::f32, graph::Shape{2, 3}};
    graph::Graph body;
    const auto x = body.add_input("x", type), y = body.add_input("y", type);
    const auto two = body.add_constant("two", graph::Tensor::scalar(2.0F));
    body.set_outputs({body.add(graph::op::Add, {x, body.add(graph::op::Mul, {two, y})}),
                      body.add(graph::op::Mul, {two, x})});
    const auto meaning = std::make_shared<const graph::Graph>(std::move(body));
    graph::Graph graph;
    std::vector<graph::ValueId> values = {graph.add_input("a", type), graph.add_input("b", type)};
    for (int i = 0; i < 2; ++i) {
        graph::Node node;
        node.op = graph::Operator("AddTwice", "viridian");
        node.attributes = {{"note", std::int64_t{7}}};
        node.inputs = values;
        node.bodies = {meaning};
        values = graph.node(graph.add_node(std::move(node), 2)).outputs;
    }
    graph.set_outputs(values);
    VIRIDIAN_TRY(graph::infer_types(graph));
    return onnx::save(graph, out);
}

Result<void> write_step(const Path& out, const Path& folder) {
    const graph::Graph step = tests::training_step();
    const std::vector<graph::Tensor> inputs = tests::step_inputs(1);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        VIRIDIAN_TRY(onnx::write_tensor_file(folder / fmt::format("input_{}.npy", i), {"", inputs[i]}));
    std::vector<graph::Tensor> states = tests::first_values(step), results;
    for (int i = 0; i < 3; ++i) {
        std::vector<graph::Tensor> given = inputs;
        given.insert(given.end(), states.begin(), states.end());
        VIRIDIAN_TRY(results, graph::evaluate(step, given));
        states.assign(results.begin() + 1, results.end());
    }
    for (std::size_t i = 0; i < results.size(); ++i)
        VIRIDIAN_TRY(onnx::write_tensor_file(folder / fmt::format("output_{}.npy", i), {"", results[i]}));
    return onnx::save(step, out);
}

// Its inputs are seed, step, first_sample, two ratios, and a tensor that has the shape of the last masks.
Result<void> write_masks(const Path& out) {
    graph::Graph graph;
    const graph::TensorType number{graph::ElementType::i64, graph::Shape{}};
    const auto seed = graph.add_input("seed", number), step = graph.add_input("step", number);
    const auto first = graph.add_input("first_sample", number);
    const auto single = graph.add_input("ratio", {graph::ElementType::f32, graph::Shape{}});
    const auto wide = graph.add_input("ratio64", {graph::ElementType::f64, graph::Shape{}});
    const graph::Shape free = {graph::Dimension("N"), graph::Dimension("M"), 3};
    const auto x = graph.add_input("x", {graph::ElementType::f32, free});
    std::vector<graph::ValueId> shapes;
    for (const graph::Dims& dims : {graph::Dims{}, {1}, {5}, {3, 0}, {4, 1025}, {2, 3, 5, 7}})
        shapes.push_back(
            graph.add_constant("shape", graph::Tensor::i64({static_cast<std::int64_t>(dims.size())}, dims)));
    shapes.push_back(graph.add(graph::op::Shape, {x}));
    std::vector<graph::ValueId> masks;
    std::int64_t stream = 0;
    for (const graph::ValueId shape : shapes)
        for (const graph::ValueId ratio : {single, wide}) {
            masks.push_back(
                graph.add(graph::op::DropoutMask, {seed, step, first, ratio, shape}, {{"stream", stream}}));
            stream = stream * 37 + 1;
        }
    graph.set_outputs(masks);
    VIRIDIAN_TRY(graph::infer_types(graph));
    return onnx::save(graph, out);
}

Result<void> time_loading(const Path& model) {
    for (int i = 0; i < 10; ++i) {
        const auto start = std::chrono::steady_clock::now();
        VIRIDIAN_TRY(const graph::Graph graph, onnx::load(model));
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        fmt::print("{:.4f} s, {} nodes\n", seconds.count(), graph.nodes().size());
    }
    return {};
}

Result<void> dispatch(const std::vector<std::string>& arguments) {
    if (arguments.size() == 3 && arguments[0] == "resave") return resave_all(arguments[1], arguments[2]);
    if (arguments.size() == 2 && arguments[0] == "private") return write_private(arguments[1]);
    if (arguments.size() == 3 && arguments[0] == "step") return write_step(arguments[1], arguments[2]);
    if (arguments.size() == 2 && arguments[0] == "masks") return write_masks(arguments[1]);
    if (arguments.size() == 3 && arguments[0] == "resave-one") return resave(arguments[1], arguments[2]);
    if (arguments.size() == 2 && arguments[0] == "time") return time_loading(arguments[1]);
    if (arguments.size() == 3 && arguments[0] == "run") return run(arguments[1], arguments[2]);
    if (arguments.size() == 3 && arguments[0] == "weights")
        return run_with_weights(arguments[1], arguments[2]);
    return fail(ErrorCode::invalid_argument, "see the first lines of model_tool.cpp", "wrong arguments");
}

}  // namespace
}  // namespace viridian::conformance

int main(int count, char** arguments) {
    const auto done =
        viridian::conformance::dispatch(std::vector<std::string>(arguments + 1, arguments + count));
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
