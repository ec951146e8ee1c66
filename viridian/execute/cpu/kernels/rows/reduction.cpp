// Reduce* of f32 over constant axes, row-major. The input may be stored in bf16.
#include <algorithm>
#include <array>
#include <cmath>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;
using simd::Fold;

constexpr std::string_view reduction_family_name = "simd:reduce";
constexpr std::int64_t strip = 256;  // totals kept at once

enum class Finish : std::uint8_t { none, mean, root, log };

struct ReductionNamed {
    graph::KnownOperator op;
    Fold fold;
    Finish finish;
};
constexpr std::array reduction_operators = {
    ReductionNamed{graph::op::ReduceSum, Fold::sum, Finish::none},
    ReductionNamed{graph::op::ReduceMean, Fold::sum, Finish::mean},
    ReductionNamed{graph::op::ReduceMax, Fold::max, Finish::none},
    ReductionNamed{graph::op::ReduceMin, Fold::min, Finish::none},
    ReductionNamed{graph::op::ReduceProd, Fold::product, Finish::none},
    ReductionNamed{graph::op::ReduceSumSquare, Fold::sum_square, Finish::none},
    ReductionNamed{graph::op::ReduceL1, Fold::sum_absolute, Finish::none},
    ReductionNamed{graph::op::ReduceL2, Fold::sum_square, Finish::root},
    ReductionNamed{graph::op::ReduceLogSum, Fold::sum, Finish::log},
};

struct Axis {
    std::int64_t size, stride;
};

// Neighbouring axes of one kind are one. The innermost run is apart: `inner` elements, reduced or kept.
struct Reduction {
    Fold fold = Fold::sum;
    Finish finish = Finish::none;
    std::vector<Axis> kept, reduced;
    std::int64_t inner = 1;
    bool inner_reduced = false;
    std::int64_t each = 1;  // elements per result
};

std::int64_t count(const std::vector<Axis>& axes) {
    std::int64_t all = 1;
    for (const Axis& axis : axes) all *= axis.size;
    return all;
}

std::int64_t offset(const std::vector<Axis>& axes, std::int64_t index) {
    std::int64_t at = 0;
    for (std::size_t i = axes.size(); i-- > 0; index /= axes[i].size)
        at += index % axes[i].size * axes[i].stride;
    return at;
}

std::optional<Reduction> reduction_of(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || !node.op.domain().empty() || task.region.inputs.size() != 1 ||
        node.input(0) != task.region.inputs[0] ||
        task.type(node.inputs[0]).element != graph::ElementType::f32)
        return std::nullopt;
    const auto named = std::find_if(reduction_operators.begin(), reduction_operators.end(),
                                    [&](const ReductionNamed& each) { return each.op == node.op; });
    if (named == reduction_operators.end()) return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    if (std::ranges::count(dims, 0) > 0) return std::nullopt;
    Dims axes;
    if (node.input(1) != ValueId::none) {
        const graph::Tensor* constant = task.graph.constant(node.inputs[1]);
        if (constant == nullptr) return std::nullopt;
        axes = constant->integers();
    }
    std::vector<bool> reduces(dims.size(), axes.empty() && node.integer("noop_with_empty_axes", 0) == 0);
    for (const std::int64_t axis : axes) {
        const auto at = graph::normalize_axis(axis, static_cast<std::int64_t>(dims.size()));
        if (!at.ok()) return std::nullopt;
        reduces[static_cast<std::size_t>(*at)] = true;
    }
    Reduction reduction{named->fold, named->finish, {}, {}, 1, false, 1};
    std::int64_t stride = 1;
    std::optional<bool> before;
    std::vector<std::pair<bool, Axis>> runs;  // innermost first
    for (std::size_t d = dims.size(); d-- > 0; stride *= dims[d]) {
        if (dims[d] == 1) continue;
        if (reduces[d]) reduction.each *= dims[d];
        if (before == reduces[d])
            runs.back().second.size *= dims[d];
        else
            runs.push_back({reduces[d], {dims[d], stride}});
        before = reduces[d];
    }
    if (!runs.empty()) {
        reduction.inner = runs[0].second.size;
        reduction.inner_reduced = runs[0].first;
    }
    for (std::size_t i = runs.size(); i-- > 1;)
        (runs[i].first ? reduction.reduced : reduction.kept).push_back(runs[i].second);
    return reduction;
}

std::vector<plan::Choice> offers_reduction(const Task& task) {
    if (!reduction_of(task)) return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(reduction_family_name))};
    offer_widened(task, [](std::size_t) { return true; }, choices, [](std::size_t) { return false; });
    return choices;
}

// Pieces of a row in f32.
void over_pieces(const float* row, std::int64_t n, const auto& f) { f(row, n); }
void over_pieces(const std::uint16_t* row, std::int64_t n, const auto& f) {
    alignas(64) float wide[strip];
    for (std::int64_t i = 0; i < n; i += strip) {
        const std::int64_t part = std::min(strip, n - i);
        simd::widen(row + i, wide, part);
        f(static_cast<const float*>(wide), part);
    }
}

struct ReductionWork {
    Reduction of;
    std::int64_t rows, folded;  // kept and reduced positions outside the innermost run

    [[nodiscard]] float finished(double total) const {
        switch (of.finish) {
            case Finish::mean:
                return static_cast<float>(total / static_cast<double>(of.each));
            case Finish::root:
                return static_cast<float>(std::sqrt(total));
            case Finish::log:
                return static_cast<float>(std::log(total));
            case Finish::none:
                break;
        }
        return static_cast<float>(total);
    }

    template <class Entry>
    void inner_reduced(const Entry* from, float* to, std::int64_t first, std::int64_t last) const {
        for (std::int64_t row = first; row < last; ++row) {
            const Entry* x = from + offset(of.kept, row);
            double total = simd::neutral(of.fold);
            for (std::int64_t r = 0; r < folded; ++r)
                over_pieces(x + offset(of.reduced, r), of.inner, [&](const float* piece, std::int64_t n) {
                    total = simd::fold_row(of.fold, total, piece, n);
                });
            to[row] = finished(total);
        }
    }

    // A strip is (row, part of the innermost run).
    template <class Entry>
    void inner_kept(const Entry* from, float* to, std::int64_t first, std::int64_t last) const {
        const std::int64_t strips = (of.inner + strip - 1) / strip;
        double totals[strip];
        for (std::int64_t s = first; s < last; ++s) {
            const std::int64_t row = s / strips, at = s % strips * strip;
            const std::int64_t n = std::min(strip, of.inner - at);
            const Entry* x = from + offset(of.kept, row) + at;
            std::fill_n(totals, n, simd::neutral(of.fold));
            for (std::int64_t r = 0; r < folded; ++r)
                over_pieces(x + offset(of.reduced, r), n, [&](const float* piece, std::int64_t) {
                    simd::fold_into(of.fold, totals, piece, n);
                });
            for (std::int64_t i = 0; i < n; ++i) to[row * of.inner + at + i] = finished(totals[i]);
        }
    }
};

Result<Kernel> prepare_reduction(const Task& task, const plan::Choice& choice) {
    auto reduction = reduction_of(task);
    if (!reduction) return unknown_kernel(choice);
    ReductionWork work{*std::move(reduction), 1, 1};
    work.rows = count(work.of.kept);
    work.folded = count(work.of.reduced);
    Kernel kernel;
    kernel.run = [work = std::move(work), reads_bf16 = in_bf16(choice.inputs[0]),
                  threads = task.context.threads](const Pointers& pointers) {
        auto* to = reinterpret_cast<float*>(pointers.outputs[0]);
        const Reduction& of = work.of;
        const std::int64_t parts =
            of.inner_reduced ? work.rows : work.rows * ((of.inner + strip - 1) / strip);
        const auto fold = [&](const auto* from, std::int64_t first, std::int64_t last) {
            if (of.inner_reduced)
                work.inner_reduced(from, to, first, last);
            else
                work.inner_kept(from, to, first, last);
        };
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            if (reads_bf16)
                fold(reinterpret_cast<const std::uint16_t*>(pointers.inputs[0]), first, last);
            else
                fold(reinterpret_cast<const float*>(pointers.inputs[0]), first, last);
        };
        if (work.rows * work.folded * of.inner < 16384) return work_on(0, parts);
        in_shares(threads, parts, work_on);
    };
    return kernel;
}

}  // namespace

Family reduction_family() { return {reduction_family_name, offers_reduction, prepare_reduction}; }

}  // namespace viridian::execute::cpu
