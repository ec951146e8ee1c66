#pragma once
// Declares the shape rule and the axes of the Reduce* operators, and the counts that they share with the
// Arg* operators.
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {

// This is the shape rule of Reduce*: the reduced axes become 1, or go without `keepdims`.
[[nodiscard]] Result<void> infer_reduction(Inference& inference);
[[nodiscard]] Flop reduction_flop(const Operation& operation);  // one per input element
// These return the axes of the input with the reduced ones marked. If the axes are an input that is no known
// constant, those are marked that the result lacks, which is a guess if axes have equal extents.
[[nodiscard]] IterationSpace reduction_space(const Operation& operation);
[[nodiscard]] IterationSpace arg_space(const Operation& operation);  // by the attribute `axis`

// These return the smallest and the largest number of an integer type. For u64 they return the bits of that
// number.
[[nodiscard]] std::int64_t least_of(ElementType type);
[[nodiscard]] std::int64_t greatest_of(ElementType type);

// ReducedAxes say which elements of a tensor are reduced to which element of the result.
struct ReducedAxes {
    Dims out;                      // dims of the result
    std::vector<std::int64_t> to;  // for each input element, the result element it enters
    std::int64_t count = 1;        // result elements
    std::int64_t each = 1;         // input elements per result element

    // Reduces a tensor of `dims` over `axes`; the attributes of `node` say what no axes mean. The second
    // form reads the axes from input 1. Errors: mismatch.
    static Result<ReducedAxes> of(const Node& node, const Dims& dims, Dims axes);
    template <class Scalar>
    static Result<ReducedAxes> of(const Call<Scalar>& call) {
        Dims axes;
        if (call.input(1) != nullptr && call.input(1)->type != ElementType::undefined) {
            VIRIDIAN_TRY(axes, integers(call, 1));
        }
        return of(call.node, call.input(0)->dims, std::move(axes));
    }
};

}  // namespace viridian::graph
