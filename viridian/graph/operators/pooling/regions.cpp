// Pools over regions of interest: MaxRoiPool (Girshick, Fast R-CNN, ICCV 2015) and RoiAlign (He et al., Mask
// R-CNN, ICCV 2017). X is [N,C,H,W]; a region is a box in the coordinates of the image, scaled by
// spatial_scale.
#include <algorithm>
#include <array>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> check_extent(const Node& node, std::int64_t extent) {
    if (extent < 1 || extent > 65536)
        return wrong_attribute("node `{}` pools regions to {} cells", node.name, extent);
    return {};
}

Result<void> infer_max_pool(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 4, 4));
    VIRIDIAN_TRY(expect_shape(inference, 1, {Dimension(), Dimension(5)}));
    const Dims pooled = inference.node().get("pooled_shape", Dims());
    if (pooled.size() != 2)
        return wrong_attribute("`pooled_shape` of node `{}` must hold 2 numbers", inference.node().name);
    VIRIDIAN_TRY(check_extent(inference.node(), pooled[0]));
    VIRIDIAN_TRY(check_extent(inference.node(), pooled[1]));
    const auto& x = inference.shape(0);
    const auto& rois = inference.shape(1);
    inference.set(0, inference.element(0),
                  Shape{rois ? (*rois)[0] : Dimension(), x ? (*x)[1] : Dimension(), Dimension(pooled[0]),
                        Dimension(pooled[1])});
    return {};
}

Result<void> infer_align(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 1));
    VIRIDIAN_TRY(expect_integer(inference, 2, 2));
    VIRIDIAN_TRY(expect_rank(inference, 0, 4, 4));
    const std::int64_t height = inference.node().integer("output_height", 1);
    const std::int64_t width = inference.node().integer("output_width", 1);
    VIRIDIAN_TRY(check_extent(inference.node(), height));
    VIRIDIAN_TRY(check_extent(inference.node(), width));
    const std::int64_t sampling = inference.node().integer("sampling_ratio", 0);
    if (sampling < 0 || sampling > 1024)
        return wrong_attribute("`sampling_ratio` of node `{}` is {}", inference.node().name, sampling);
    VIRIDIAN_TRY(expect_shape(inference, 1, {Dimension(), Dimension(4)}));
    const auto& x = inference.shape(0);
    const auto& rois = inference.shape(1);
    const Dimension count = rois ? (*rois)[0] : Dimension();
    VIRIDIAN_TRY(expect_shape(inference, 2, {count}));
    inference.set(0, inference.element(0),
                  Shape{count, x ? (*x)[1] : Dimension(), Dimension(height), Dimension(width)});
    return {};
}

Result<std::int64_t> image_of(const Node& node, double index, std::int64_t images) {
    if (!(index >= 0) || index >= static_cast<double>(images))
        return wrong_shape("a region of node `{}` names image {} of {}", node.name, index, images);
    return static_cast<std::int64_t>(index);
}

constexpr auto max_roi_pool = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& rois = *call.input(1);
    Array<Scalar>& y = call.outputs[0];
    const double scale = call.node.get("spatial_scale", 1.0);
    const std::int64_t height = x.dims[2];
    const std::int64_t width = x.dims[3];
    std::size_t next = 0;
    for (std::int64_t r = 0; r < rois.dims[0]; ++r) {
        const auto number = [&](std::int64_t i) {
            return static_cast<double>(rois.real[static_cast<std::size_t>(r * 5 + i)]);
        };
        VIRIDIAN_TRY(const std::int64_t image, image_of(call.node, number(0), x.dims[0]));
        const auto corner = [&](std::int64_t i) {
            return std::clamp(std::round(number(i) * scale), -1e9, 1e9);
        };
        const double left = corner(1);
        const double top = corner(2);
        const double bin_width = std::max(corner(3) - left + 1, 1.0) / static_cast<double>(y.dims[3]);
        const double bin_height = std::max(corner(4) - top + 1, 1.0) / static_cast<double>(y.dims[2]);
        const auto bound = [](double at, std::int64_t most) {
            return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(most)));
        };
        for (std::int64_t c = 0; c < x.dims[1]; ++c)
            for (std::int64_t i = 0; i < y.dims[2]; ++i)
                for (std::int64_t j = 0; j < y.dims[3]; ++j) {
                    const auto row_regions = static_cast<double>(i);
                    const auto column = static_cast<double>(j);
                    const std::int64_t from_row = bound(std::floor(row_regions * bin_height) + top, height);
                    const std::int64_t to_row =
                        bound(std::ceil((row_regions + 1) * bin_height) + top, height);
                    const std::int64_t from = bound(std::floor(column * bin_width) + left, width);
                    const std::int64_t to = bound(std::ceil((column + 1) * bin_width) + left, width);
                    bool any = false;
                    Scalar most = 0;  // of an empty bin
                    for (std::int64_t h = from_row; h < to_row; ++h)
                        for (std::int64_t w = from; w < to; ++w) {
                            const Scalar value = x.real[static_cast<std::size_t>(
                                ((image * x.dims[1] + c) * height + h) * width + w)];
                            if (!any || value > most) most = value;
                            any = true;
                        }
                    y.real[next++] = most;
                }
    }
    return {};
};

// Four cells around a point, with bilinear weights; none for a point more than one cell outside.
struct Bilinear {
    std::array<std::int64_t, 4> cell{};
    std::array<double, 4> weight{};

    Bilinear(double y, double x, std::int64_t height, std::int64_t width) {
        if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return;
        const auto split = [](double at, std::int64_t extent, std::int64_t& low, std::int64_t& high) {
            at = std::max(at, 0.0);
            low = std::min(static_cast<std::int64_t>(at), extent - 1);
            high = std::min(low + 1, extent - 1);
            return low == extent - 1 ? 0 : at - static_cast<double>(low);
        };
        std::int64_t top = 0;
        std::int64_t bottom = 0;
        std::int64_t left = 0;
        std::int64_t right = 0;
        const double down = split(y, height, top, bottom);
        const double along = split(x, width, left, right);
        cell = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
        weight = {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along};
    }
};

// Mode `max` takes the largest weighted corner, not the largest interpolated value: so the operator's tests
// and every runtime have it.
constexpr auto roi_align = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& rois = *call.input(1);
    Array<Scalar>& y = call.outputs[0];
    const double scale = call.node.get("spatial_scale", 1.0);
    const bool half_pixel =
        call.node.get("coordinate_transformation_mode", std::string("half_pixel")) == "half_pixel";
    const bool average = call.node.get("mode", std::string("avg")) == "avg";
    const std::int64_t sampling = call.node.integer("sampling_ratio", 0);
    const std::int64_t plane = x.dims[2] * x.dims[3];
    if (plane == 0 && !y.real.empty())
        return wrong_shape("RoiAlign `{}` reads an empty image", call.node.name);
    for (std::int64_t r = 0; r < rois.dims[0]; ++r) {
        VIRIDIAN_TRY(
            const std::int64_t image,
            image_of(call.node, static_cast<double>(call.input(2)->integer[static_cast<std::size_t>(r)]),
                     x.dims[0]));
        const auto corner = [&](std::int64_t i) {
            return static_cast<double>(rois.real[static_cast<std::size_t>(r * 4 + i)]) * scale -
                   (half_pixel ? 0.5 : 0);
        };
        const auto side = [&](double length) { return half_pixel ? length : std::max(length, 1.0); };
        const double bin_width = side(corner(2) - corner(0)) / static_cast<double>(y.dims[3]);
        const double bin_height = side(corner(3) - corner(1)) / static_cast<double>(y.dims[2]);
        if (!(std::abs(bin_width) < 1024) || !(std::abs(bin_height) < 1024))
            return wrong_shape("a region of node `{}` is too large", call.node.name);
        const auto samples = [&](double bin) {
            return sampling > 0 ? sampling
                                : std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(bin)));
        };
        const std::int64_t rows = samples(bin_height);
        const std::int64_t columns = samples(bin_width);
        for (std::int64_t i = 0; i < y.dims[2]; ++i)
            for (std::int64_t j = 0; j < y.dims[3]; ++j) {
                std::vector<Bilinear> points;
                for (std::int64_t p = 0; p < rows; ++p)
                    for (std::int64_t q = 0; q < columns; ++q) {
                        const auto centre = [](std::int64_t bin, std::int64_t sample, std::int64_t count) {
                            return static_cast<double>(bin) +
                                   (static_cast<double>(sample) + 0.5) / static_cast<double>(count);
                        };
                        points.emplace_back(corner(1) + centre(i, p, rows) * bin_height,
                                            corner(0) + centre(j, q, columns) * bin_width, x.dims[2],
                                            x.dims[3]);
                    }
                for (std::int64_t c = 0; c < x.dims[1]; ++c) {
                    const Scalar* values = x.real.data() + (image * x.dims[1] + c) * plane;
                    double sum = 0;
                    double most = points.empty() ? 0 : -HUGE_VAL;
                    for (const Bilinear& point : points)
                        for (std::size_t corner_index = 0; corner_index < 4; ++corner_index) {
                            const double part = point.weight[corner_index] *
                                                static_cast<double>(values[point.cell[corner_index]]);
                            sum += part;
                            most = std::max(most, part);
                        }
                    const auto count = static_cast<double>(std::max<std::size_t>(points.size(), 1));
                    y.real[static_cast<std::size_t>(((r * x.dims[1] + c) * y.dims[2] + i) * y.dims[3] + j)] =
                        static_cast<Scalar>(average ? sum / count : most);
                }
            }
    }
    return {};
};

}  // namespace

std::span<const OperatorRow> region_operators() {
    static constexpr OperatorRow rows[] = {
        normalization_row("MaxRoiPool", {2, 2}, infer_max_pool, real_kernel(max_roi_pool)),
        normalization_row("RoiAlign", {3, 3}, infer_align, real_kernel(roi_align),
                          {.precision = precision::counts, .sets = {.bf16 = 22}}),
    };
    return rows;
}

}  // namespace viridian::graph
