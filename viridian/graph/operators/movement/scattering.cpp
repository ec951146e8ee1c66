// ScatterElements and ScatterND: a copy of the data with elements replaced by, or reduced with, the updates.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/indices.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_scatter_scattering(Inference& inference) {
    inference.set(0, inference.element(0), inference.shape(0));
    return {};
}

// Writes one slice of the updates (input 2) to each of the slices of the data. The places are not listed
// element by element: updates that are too few for their indices would make such a list of any length.
template <class Scalar>
Result<void> write(Call<Scalar>& call, const SlicePlaces& places) {
    const Array<Scalar>& updates = *call.input(2);
    Array<Scalar> y = *call.input(0);
    const auto size = static_cast<std::size_t>(places.size);
    if (updates.type != y.type || static_cast<std::size_t>(updates.count()) != places.starts.size() * size)
        return fail(ErrorCode::mismatch, "check the model's shapes",
                    "{} updates for {} indices of {} elements each", updates.count(), places.starts.size(),
                    places.size);
    const auto apply = [&](auto& elements, const auto& values, auto f) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            auto& element = elements[static_cast<std::size_t>(places.starts[i / size]) + i % size];
            element = f(element, values[i]);
        }
    };
    const auto run = [&](auto f) {
        apply(y.real, updates.real, f);
        apply(y.integer, updates.integer, f);
    };
    const std::string kind = call.node.get("reduction", std::string("none"));
    if (kind == "none") {
        run([](auto, auto b) { return b; });
    } else if (kind == "add") {
        run(plus);
    } else if (kind == "mul") {
        run(times);
    } else if (std::is_same_v<Scalar, PrimeField> || (kind != "max" && kind != "min")) {
        return fail(ErrorCode::unsupported, "export the model again", "{} has no reduction `{}` here",
                    call.node.op, kind);
    } else if constexpr (!std::is_same_v<Scalar, PrimeField>) {
        if (kind == "max")
            run(greater);
        else
            run(lesser);
    }
    call.outputs[0] = std::move(y);
    return {};
}

constexpr auto scatter_elements = [](auto& call) -> Result<void> {
    SlicePlaces places;
    VIRIDIAN_TRY(places.starts, element_places(call));
    return write(call, places);
};

constexpr auto scatter_nd = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(const SlicePlaces places, slice_places(call, 0));
    return write(call, places);
};

constexpr OperatorRow scatter(std::string_view name, Reference reference,
                              const Precision& precision = precision::rounds_once) {
    return movement_row(name, {3, 3}, infer_scatter_scattering, reference, {.precision = precision});
}

}  // namespace

std::span<const OperatorRow> scattering_operators() {
    static constexpr OperatorRow rows[] = {
        scatter("ScatterElements", polynomial_kernel(scatter_elements)),
        scatter("Scatter", polynomial_kernel(scatter_elements), precision::unlisted),
        scatter("ScatterND", polynomial_kernel(scatter_nd)),
    };
    return rows;
}

}  // namespace viridian::graph
