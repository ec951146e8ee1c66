#include "conformance/case.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::conformance {
namespace {

Result<Outputs> run_reference(const graph::Graph& graph, const std::vector<graph::Tensor>& inputs) {
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, graph::evaluate(graph, inputs));
    return Outputs{std::move(outputs), 0};
}

}  // namespace

std::vector<Device> devices() { return {{"reference", run_reference}}; }

}  // namespace viridian::conformance
