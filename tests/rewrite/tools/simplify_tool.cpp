// simplify_tool MODEL.onnx [--no-compare]: simplifies a model, prints its operators before and after and what
// each rule did, and compares both sides on random inputs. Exit code 1 where they differ.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>
#include <string_view>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;

std::string operators(const Graph& graph) {
    std::map<std::string, int> count;
    for (const graph::NodeId id : graph.nodes()) ++count[std::string(graph.node(id).op.name())];
    std::string line;
    for (const auto& [op, n] : count) line += fmt::format("{} {} ", op, n);
    return line;
}

Tensor random_tensor(Random& random, const graph::TensorType& type) {
    Tensor tensor(type.element, type.dims());
    if (type.element == graph::ElementType::f32)
        for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    else if (type.element == graph::ElementType::i64)
        for (std::int64_t& value : tensor.mutable_values<std::int64_t>()) value = random.between(0, 1);
    else if (type.element == graph::ElementType::boolean)
        for (std::int8_t& value : tensor.mutable_values<std::int8_t>()) value = random.chance(0.5) ? 1 : 0;
    return tensor;
}

// Largest difference over the largest magnitude, of all outputs.
double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].dims() != b[i].dims()) return INFINITY;
        double scale = 1e-30;
        double apart = 0;
        for (std::int64_t k = 0; k < a[i].count(); ++k) {
            scale = std::max(scale, std::abs(a[i].number(k)));
            apart = std::max(apart, std::abs(a[i].number(k) - b[i].number(k)));
        }
        most = std::max(most, apart / scale);
    }
    return most;
}

Result<int> run(const std::string& path, bool compare) {
    VIRIDIAN_TRY(Graph before, onnx::load(path));
    Graph after = before;
    const auto start = std::chrono::steady_clock::now();
    VIRIDIAN_TRY(const rewrite::Outcome outcome, rewrite::simplify(after));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    VIRIDIAN_TRY(graph::verify(after));
    fmt::print("before: {}\nafter: {}\n", operators(before), operators(after));
    for (const rewrite::RuleTime& time : outcome.times)
        fmt::print("rule {} {} times, {:.1f} ms\n", time.rule, time.applied, time.seconds.value * 1e3);
    fmt::print("simplified in {:.1f} ms\n", taken.count() * 1e3);
    VIRIDIAN_TRY(const Graph replayed, rewrite::replay(before, outcome.certificate));
    fmt::print("certificate {}\n",
               structural_hash(replayed) == structural_hash(after) ? "replays" : "ends elsewhere");
    if (!compare) return 0;
    Random random(7);
    std::vector<Tensor> inputs;
    for (const ValueId id : before.inputs()) {
        const graph::TensorType& type = before.value(id).type;
        if (!type.known())
            return fail(ErrorCode::invalid_argument, "export with fixed shapes", "input `{}` is {}",
                        before.value(id).name, text(type));
        inputs.push_back(random_tensor(random, type));
    }
    VIRIDIAN_TRY(const std::vector<Tensor> a, evaluate(before, inputs));
    VIRIDIAN_TRY(const std::vector<Tensor> b, evaluate(after, inputs));
    const double apart = difference(a, b);
    fmt::print("outputs differ by {:.2g}\n", apart);
    return apart <= 1e-4 ? 0 : 1;
}

}  // namespace
}  // namespace viridian

int main(int count, char** arguments) {
    const bool compare = count < 3 || std::string_view(arguments[2]) != "--no-compare";
    const auto code = viridian::run(count > 1 ? arguments[1] : "", compare);
    if (code.ok()) return *code;
    fmt::print(stderr, "{}\n", code.error().text());
    return 1;
}
