// HannWindow, HammingWindow, BlackmanWindow; and Det, the determinant of the last two axes.
#include <cmath>
#include <numbers>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

ElementType stated(const Node& node) {
    return element_type_of_onnx(node.integer("output_datatype", 1)).value_or(ElementType::f32);
}

Result<void> infer_window(Inference& inference) {
    Dimension length;
    if (const auto size = constant_integers(inference, 0); size && size->size() == 1 && (*size)[0] >= 0)
        length = Dimension((*size)[0]);
    inference.set(0, stated(inference.node()), Shape{length});
    return {};
}

// w(i) = a − b·cos(2πi/n) + c·cos(4πi/n); n is the size, or one less when the window is not periodic.
template <class Coefficients>
constexpr OperatorRow window(std::string_view name, Coefficients) {
    return movement_row(name, {1, 1}, infer_window, real_kernel([](auto& call) -> Result<void> {
                            using Scalar = scalar_of<decltype(call)>;
                            VIRIDIAN_TRY(const Dims size, integers(call, 0));
                            if (size.size() != 1)
                                return fail(ErrorCode::mismatch, "check the model", "{} takes one size",
                                            call.node.op);
                            VIRIDIAN_TRY(call.outputs[0], call.make(stated(call.node), size));
                            const bool periodic = call.node.integer("periodic", 1) != 0;
                            const auto n = static_cast<double>(periodic ? size[0] : size[0] - 1);
                            const auto [a, b, c] = Coefficients{}();
                            auto& y = call.outputs[0];
                            for (std::int64_t i = 0; i < size[0]; ++i) {
                                const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
                                const double w = a - b * std::cos(angle) + c * std::cos(2 * angle);
                                if (y.floating())
                                    y.real[static_cast<std::size_t>(i)] = static_cast<Scalar>(w);
                                else
                                    y.integer[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(w);
                            }
                            return {};
                        }),
                        {});
}

struct Three {
    double a, b, c;
};

Result<void> infer_det(Inference& inference) {
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        if (out->size() < 2)
            return fail(ErrorCode::mismatch, "check the model's shapes", "Det of rank {}", out->size());
        out->resize(out->size() - 2);
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// Gaussian elimination with partial pivoting, in place.
double determinant(std::vector<double> m, std::size_t n) {
    double product = 1;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
        if (m[pivot * n + k] == 0) return 0;
        if (pivot != k) {
            for (std::size_t j = 0; j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
            product = -product;
        }
        product *= m[k * n + k];
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = m[i * n + k] / m[k * n + k];
            for (std::size_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return product;
}

constexpr auto det = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    if (x.rank() < 2 || x.dims.back() != x.dims[x.dims.size() - 2] || !x.floating())
        return fail(ErrorCode::mismatch, "check the model's shapes", "Det needs square matrices, not [{}]",
                    fmt::join(x.dims, ","));
    const auto n = static_cast<std::size_t>(x.dims.back());
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, Dims(x.dims.begin(), x.dims.end() - 2)));
    auto& y = call.outputs[0].real;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto first = x.real.begin() + static_cast<std::ptrdiff_t>(i * n * n);
        y[i] = static_cast<Scalar>(
            determinant(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(n * n)), n));
    }
    return {};
};

}  // namespace

std::span<const OperatorRow> signal_operators() {
    static constexpr OperatorRow rows[] = {
        window("HannWindow", [] { return Three{0.5, 0.5, 0}; }),
        window("HammingWindow", [] { return Three{25.0 / 46, 21.0 / 46, 0}; }),
        window("BlackmanWindow", [] { return Three{0.42, 0.5, 0.08}; }),
        contraction_row("Det", {1, 1}, infer_det, real_kernel(det)),
    };
    return rows;
}

}  // namespace viridian::graph
