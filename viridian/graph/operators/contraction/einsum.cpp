// Einsum: sums of products over named axes, in Einstein's convention as numpy writes it: "bij,bjk->bik", with
// "..." for broadcast axes, repeated labels for diagonals, and the implicit output without "->".
#include <algorithm>
#include <map>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/movement.hpp"
#include "viridian/graph/reference/multiply.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

// A label is a letter, or 256 + k for the k-th broadcast axis from the right.
using Labels = std::vector<int>;
constexpr int broadcast_label = 256;

struct Equation {
    std::vector<Labels> inputs;
    Labels output;
};

// "ab...c" with `rank` axes to labels; without a rank the ellipsis must be absent.
Result<Labels> parse_term(const std::string& term, std::size_t rank, const std::string& equation) {
    const auto bad = [&] { return wrong_attribute("`{}` is no equation for Einsum", equation); };
    Labels labels;
    const std::size_t dots = term.find("...");
    const std::size_t letters = dots == std::string::npos ? term.size() : term.size() - 3;
    if (letters > rank || (dots == std::string::npos && letters != rank))
        return wrong_shape("Einsum's term `{}` reads a tensor of rank {}", term, rank);
    for (std::size_t i = 0; i < term.size(); ++i) {
        if (i == dots) {
            for (std::size_t k = rank - letters; k-- > 0;)
                labels.push_back(broadcast_label + static_cast<int>(k));
            i += 2;
        } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
            labels.push_back(term[i]);
        } else {
            return bad();
        }
    }
    return labels;
}

Result<Equation> parse(const std::string& text, const std::vector<std::size_t>& ranks) {
    std::string compact;
    std::copy_if(text.begin(), text.end(), std::back_inserter(compact), [](char c) { return c != ' '; });
    const std::size_t arrow = compact.find("->");
    const std::string left = compact.substr(0, arrow);
    Equation equation;
    std::size_t from = 0;
    for (const std::size_t rank : ranks) {
        if (from > left.size())
            return wrong_attribute("`{}` names fewer tensors than the {} inputs", text, ranks.size());
        const std::size_t comma = std::min(left.find(',', from), left.size());
        VIRIDIAN_TRY(Labels labels, parse_term(left.substr(from, comma - from), rank, text));
        equation.inputs.push_back(std::move(labels));
        from = comma + 1;
    }
    if (from <= left.size())
        return wrong_attribute("`{}` names more tensors than the {} inputs", text, ranks.size());
    std::map<int, int> seen;
    int broadcasts = 0;
    for (const Labels& labels : equation.inputs)
        for (const int label : labels) {
            ++seen[label];
            broadcasts = std::max(broadcasts, label - broadcast_label + 1);
        }
    if (arrow != std::string::npos) {
        const std::string right = compact.substr(arrow + 2);
        const bool dots = right.find("...") != std::string::npos;
        const std::size_t rank =
            right.size() - (dots ? 3 : 0) + (dots ? static_cast<std::size_t>(broadcasts) : 0);
        VIRIDIAN_TRY(equation.output, parse_term(right, rank, text));
        for (const int label : equation.output)
            if (seen.count(label) == 0 ||
                std::count(equation.output.begin(), equation.output.end(), label) > 1)
                return wrong_attribute("the output of `{}` does not follow from its inputs", text);
    } else {  // broadcast axes, then every label that appears once
        for (int k = broadcasts; k-- > 0;) equation.output.push_back(broadcast_label + k);
        for (const auto& [label, count] : seen)
            if (label < broadcast_label && count == 1) equation.output.push_back(label);
    }
    return equation;
}

// The extent of each label; 1 broadcasts. Errors: mismatch.
Result<std::map<int, Dimension>> extents(const Equation& equation, const std::vector<Shape>& shapes) {
    std::map<int, Dimension> extent;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        for (std::size_t axis = 0; axis < shapes[i].size(); ++axis) {
            const Dimension& found = shapes[i][axis];
            const auto [entry, fresh] = extent.try_emplace(equation.inputs[i][axis], found);
            Dimension& known = entry->second;
            if (fresh || found.value() == 1) continue;
            if (known.value() == 1)
                known = found;
            else if (differ(known, found))
                return wrong_shape("an axis of Einsum has {} and {} entries", known.value(), found.value());
            else
                known = better(known, found);
        }
    return extent;
}

Result<void> infer_einsum(Inference& inference) {
    VIRIDIAN_TRY(expect_products(inference));
    std::vector<Shape> shapes;
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < inference.input_count(); ++i) {
        if (!inference.shape(i)) {
            inference.set(0, inference.element(0), std::nullopt);
            return {};
        }
        shapes.push_back(*inference.shape(i));
        ranks.push_back(shapes.back().size());
    }
    VIRIDIAN_TRY(const Equation equation, parse(inference.node().get("equation", std::string()), ranks));
    VIRIDIAN_TRY(const auto extent, extents(equation, shapes));
    Shape out;
    for (const int label : equation.output) out.push_back(extent.at(label));
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// The loops of an Einsum whose shapes are known: output labels, then summed ones.
struct Loops {
    Equation equation;
    Dims kept, summed;
    Labels labels;  // kept, then summed
};

Result<Loops> loops_of(const Node& node, const std::vector<Dims>& inputs) {
    std::vector<std::size_t> ranks;
    std::vector<Shape> shapes;
    for (const Dims& dims : inputs) {
        ranks.push_back(dims.size());
        shapes.push_back(shape_of(dims));
    }
    VIRIDIAN_TRY(Equation equation, parse(node.get("equation", std::string()), ranks));
    VIRIDIAN_TRY(const auto extent, extents(equation, shapes));
    Loops loops{std::move(equation), {}, {}, {}};
    loops.labels = loops.equation.output;
    for (const int label : loops.labels) loops.kept.push_back(extent.at(label).value());
    for (const auto& [label, size] : extent)
        if (const Labels& kept = loops.equation.output;
            std::find(kept.begin(), kept.end(), label) == kept.end()) {
            loops.summed.push_back(size.value());
            loops.labels.push_back(label);
        }
    return loops;
}

// How far input i moves along each loop.
Dims strides_of(const Loops& loops, std::size_t i, const Dims& dims) {
    const Dims strides = row_major_strides(dims);
    Dims along(loops.labels.size(), 0);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const auto found =
            std::find(loops.labels.begin(), loops.labels.end(), loops.equation.inputs[i][axis]);
        if (dims[axis] != 1) along[static_cast<std::size_t>(found - loops.labels.begin())] += strides[axis];
    }
    return along;
}

constexpr auto einsum = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    std::vector<Dims> inputs;
    for (const Array<Scalar>* input : call.inputs) inputs.push_back(input->dims);
    VIRIDIAN_TRY(const Loops loops, loops_of(call.node, inputs));
    std::vector<std::vector<std::int64_t>> bases;
    std::vector<std::vector<std::int64_t>> steps;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Dims along = strides_of(loops, i, inputs[i]);
        const auto split = along.begin() + static_cast<std::ptrdiff_t>(loops.kept.size());
        bases.push_back(strided_index(loops.kept, Dims(along.begin(), split)));
        steps.push_back(strided_index(loops.summed, Dims(split, along.end())));
    }
    const auto sum_up = [&]<class Element>(std::vector<Element>& y, auto elements) {
        using Wide = ProductSum<Element>;
        for (std::size_t o = 0; o < y.size(); ++o) {
            Wide sum(0);
            for (std::size_t s = 0; s < steps[0].size(); ++s) {
                Wide term(1);
                for (std::size_t i = 0; i < inputs.size(); ++i)
                    term *=
                        Wide(elements(*call.inputs[i])[static_cast<std::size_t>(bases[i][o] + steps[i][s])]);
                sum += term;
            }
            y[o] = static_cast<Element>(sum);
        }
    };
    if (call.outputs[0].floating())
        sum_up(call.outputs[0].real, [](const auto& array) -> const auto& { return array.real; });
    else
        sum_up(call.outputs[0].integer, [](const auto& array) -> const auto& { return array.integer; });
    return {};
};

IterationSpace einsum_space(const Operation& operation) {
    std::vector<Dims> inputs;
    for (const TensorType& input : operation.inputs) inputs.push_back(input.dims());
    IterationSpace space;
    const auto loops = loops_of(operation.node, inputs);
    if (!loops.ok()) return space;
    for (const std::int64_t size : loops->kept) space.push_back({size, false});
    for (const std::int64_t size : loops->summed) space.push_back({size, true});
    return space;
}

// One product per further input and one addition where something is summed, at every point of the loops.
Flop einsum_flop(const Operation& operation) {
    auto count = static_cast<std::int64_t>(operation.inputs.size()) - 1;
    bool sums = false;
    std::int64_t points = 1;
    for (const Axis& axis : einsum_space(operation)) {
        points *= axis.size;
        sums = sums || axis.reduced;
    }
    return Flop((count + (sums ? 1 : 0)) * points);
}

}  // namespace

std::span<const OperatorRow> einsum_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row(
            "Einsum", {1, unbounded}, infer_einsum, polynomial_kernel(einsum),
            {.precision = precision::f32_sums, .flop = einsum_flop, .iteration_space = einsum_space}),
    };
    return rows;
}

}  // namespace viridian::graph
