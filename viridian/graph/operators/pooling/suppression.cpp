// NonMaxSuppression: per image and class, boxes in order of falling score, less those that overlap a chosen
// one by more than a threshold (intersection over union).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_suppression(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 1));
    VIRIDIAN_TRY(expect_integer(inference, 2, 2));
    VIRIDIAN_TRY(expect_floating(inference, 3, 4));
    VIRIDIAN_TRY(expect_shape(inference, 0, {Dimension(), Dimension(), Dimension(4)}));
    if (const auto& boxes = inference.shape(0))
        VIRIDIAN_TRY(expect_shape(inference, 1, {(*boxes)[0], Dimension(), (*boxes)[1]}));
    inference.set(0, ElementType::i64, Shape{Dimension(), Dimension(3)});
    return {};
}

struct Box {
    double top, left, bottom, right;
    [[nodiscard]] double area() const { return (bottom - top) * (right - left); }
};

double overlap(const Box& a, const Box& b) {
    const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
    if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return 0;
    return height * width / (a.area() + b.area() - height * width);
}

template <class Scalar>
Box box_at(const Array<Scalar>& boxes, std::int64_t index, bool centre) {
    std::array<double, 4> n{};
    for (std::size_t i = 0; i < 4; ++i)
        n[i] = static_cast<double>(boxes.real[static_cast<std::size_t>(index) * 4 + i]);
    if (centre) return {n[1] - n[3] / 2, n[0] - n[2] / 2, n[1] + n[3] / 2, n[0] + n[2] / 2};
    return {std::min(n[0], n[2]), std::min(n[1], n[3]), std::max(n[0], n[2]), std::max(n[1], n[3])};
}

constexpr auto suppress = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& boxes = *call.input(0);
    const Array<Scalar>& scores = *call.input(1);
    const auto number = [&](std::size_t i, double otherwise) {
        const Array<Scalar>* input = call.input(i);
        if (input == nullptr || input->count() < 1) return otherwise;
        return input->floating() ? static_cast<double>(input->real[0])
                                 : static_cast<double>(input->integer[0]);
    };
    const double most = number(2, 0);
    const double overlapping = number(3, 0);
    const double least = number(4, -std::numeric_limits<double>::infinity());
    const bool centre = call.node.integer("center_point_box", 0) != 0;
    const std::int64_t count = boxes.dims[1];
    std::vector<std::int64_t> chosen;
    for (std::int64_t image = 0; image < scores.dims[0]; ++image)
        for (std::int64_t c = 0; c < scores.dims[1]; ++c) {
            const Scalar* score = scores.real.data() + (image * scores.dims[1] + c) * count;
            std::vector<std::int64_t> order;
            for (std::int64_t i = 0; i < count; ++i)
                if (static_cast<double>(score[i]) > least) order.push_back(i);
            std::stable_sort(order.begin(), order.end(),
                             [&](std::int64_t a, std::int64_t b) { return score[a] > score[b]; });
            std::vector<Box> kept;
            for (const std::int64_t i : order) {
                if (static_cast<double>(kept.size()) >= most) break;
                const Box box = box_at(boxes, image * count + i, centre);
                if (std::any_of(kept.begin(), kept.end(),
                                [&](const Box& other) { return overlap(box, other) > overlapping; }))
                    continue;
                kept.push_back(box);
                chosen.insert(chosen.end(), {image, c, i});
            }
        }
    VIRIDIAN_TRY(Array<Scalar> y,
                 call.make(ElementType::i64, {static_cast<std::int64_t>(chosen.size()) / 3, 3}));
    y.integer = std::move(chosen);
    call.outputs[0] = std::move(y);
    return {};
};

}  // namespace

std::span<const OperatorRow> suppression_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("NonMaxSuppression", {2, 5}, infer_suppression, real_kernel(suppress),
                     {.precision = precision::counts}),
    };
    return rows;
}

}  // namespace viridian::graph
