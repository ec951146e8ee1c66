#include "conformance/case.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"

namespace viridian::conformance {
namespace {

constexpr double relative = 1e-3;
constexpr double absolute = 1e-7;

std::vector<Path> sorted_children(const Path& folder) {
    std::vector<Path> children;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        children.push_back(entry.path());
    std::sort(children.begin(), children.end());
    return children;
}

Result<std::vector<graph::Tensor>> read_numbered(const Path& folder, const char* stem) {
    std::vector<graph::Tensor> tensors;
    for (int i = 0;; ++i) {
        const Path file = folder / fmt::format("{}_{}.pb", stem, i);
        if (!std::filesystem::exists(file)) return tensors;
        VIRIDIAN_TRY(onnx::NamedTensor read, onnx::read_tensor_file(file));
        tensors.push_back(std::move(read.tensor));
    }
}

Error differs(std::size_t output, std::string what) {
    return fail(ErrorCode::not_equal, "see the operator's reference kernel", "output {}: {}", output, what);
}

Result<void> compare(std::size_t output, const graph::Tensor& got, const graph::Tensor& expected) {
    if (got.type() != expected.type() || got.dims() != expected.dims())
        return differs(output, fmt::format("{} instead of {}", graph::text(got.tensor_type()),
                                           graph::text(expected.tensor_type())));
    for (std::int64_t i = 0; i < got.count(); ++i) {
        const double a = got.number(i);
        const double b = expected.number(i);
        const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                          std::abs(a - b) <= absolute + relative * std::abs(b);
        if (!same) return differs(output, fmt::format("element {} is {}, expected {}", i, a, b));
    }
    return {};
}

Result<void> compare(const std::vector<graph::Tensor>& got, const std::vector<graph::Tensor>& expected) {
    if (got.size() != expected.size())
        return differs(0, fmt::format("{} outputs instead of {}", got.size(), expected.size()));
    for (std::size_t i = 0; i < got.size(); ++i) VIRIDIAN_TRY(compare(i, got[i], expected[i]));
    return {};
}

// The light models' input: 0, 1/n, 2/n, … as in ONNX's own runner.
Result<std::vector<graph::Tensor>> ramp_inputs(const graph::Graph& graph) {
    std::vector<graph::Tensor> inputs;
    for (const graph::ValueId id : graph.inputs()) {
        const graph::TensorType& type = graph.value(id).type;
        if (!type.known())
            return fail(ErrorCode::unsupported, "give it a shape", "input `{}` has no shape",
                        graph.value(id).name);
        graph::Tensor tensor(graph::ElementType::f32, type.dims());
        auto values = tensor.mutable_values<float>();
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(values.size()));
        inputs.push_back(std::move(tensor));
    }
    return inputs;
}

Result<Kernels> run_light(const Case& test, const graph::Graph& graph, const Run& run) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> inputs, ramp_inputs(graph));
    VIRIDIAN_TRY(const Outputs outputs, run(graph, inputs));
    const Path beside = test.model.parent_path();
    VIRIDIAN_TRY(const auto expected,
                 read_numbered(beside, (test.model.stem().string() + "_output").c_str()));
    VIRIDIAN_TRY(compare(outputs.tensors, expected));
    return outputs.kernels;
}

// Older test data hold bfloat16 as the 16-bit integers of its bits.
void read_bits(graph::Tensor& tensor, graph::ElementType wanted) {
    if (wanted == graph::ElementType::bf16 && tensor.type() == graph::ElementType::u16)
        tensor = graph::Tensor::of(wanted, tensor.dims(), tensor.values<std::uint16_t>());
}

}  // namespace

std::vector<Case> find_cases(const Path& root) {
    std::vector<Case> cases;
    for (const char* group : {"node", "simple", "pytorch-operator", "pytorch-converted"})
        for (const Path& folder : sorted_children(root / group)) {
            if (!std::filesystem::exists(folder / "model.onnx")) continue;
            Case test{fmt::format("{}/{}", group, folder.filename().string()), folder / "model.onnx", {}};
            for (const Path& set : sorted_children(folder))
                if (set.filename().string().starts_with("test_data_set_")) test.data_sets.push_back(set);
            if (!test.data_sets.empty()) cases.push_back(std::move(test));
        }
    for (const Path& file : sorted_children(root / "light"))
        if (file.extension() == ".onnx") cases.push_back({"light/" + file.stem().string(), file, {}});
    return cases;
}

Result<Kernels> run_case(const Case& test, const Run& run) {
    VIRIDIAN_TRY(const graph::Graph graph, onnx::load(test.model));
    if (test.data_sets.empty()) return run_light(test, graph, run);
    Kernels most;
    for (const Path& set : test.data_sets) {
        VIRIDIAN_TRY(std::vector<graph::Tensor> inputs, read_numbered(set, "input"));
        VIRIDIAN_TRY(auto expected, read_numbered(set, "output"));
        for (std::size_t i = 0; i < std::min(inputs.size(), graph.inputs().size()); ++i)
            read_bits(inputs[i], graph.value(graph.inputs()[i]).type.element);
        VIRIDIAN_TRY(const Outputs outputs, run(graph, inputs));
        for (std::size_t i = 0; i < std::min(expected.size(), outputs.tensors.size()); ++i)
            read_bits(expected[i], outputs.tensors[i].type());
        VIRIDIAN_TRY(compare(outputs.tensors, expected));
        most.computing = std::max(most.computing, outputs.kernels.computing);
        most.moving = std::max(most.moving, outputs.kernels.moving);
    }
    return most;
}

}  // namespace viridian::conformance
