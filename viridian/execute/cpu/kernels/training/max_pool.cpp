// MaxPool of images that also tells which element each maximum came from, and MaxPoolGrad, which adds
// gradients there. Threads share the planes.
#include <algorithm>
#include <limits>
#include <tuple>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/training/maxima.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;

constexpr std::string_view max_pool_family_name = "simd:maxpool";

// Windows of one plane, with ones in front for a missing axis.
struct MaxPooling {
    bool gradient = false;
    std::int64_t planes = 1;
    std::int64_t from_height = 1, from_width = 1, to_height = 1, to_width = 1;
    std::int64_t kernel[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1}, before[2] = {0, 0};
    std::string node;

    [[nodiscard]] std::int64_t from_cells() const { return from_height * from_width; }
    [[nodiscard]] std::int64_t to_cells() const { return to_height * to_width; }
};

bool set_planes(const Dims& from, const Dims& to, MaxPooling& made) {
    if (from.size() < 3 || from.size() > 4 || to.size() != from.size() || from[0] != to[0] ||
        from[1] != to[1] || std::ranges::count(from, 0) > 0 || std::ranges::count(to, 0) > 0)
        return false;
    made.planes = from[0] * from[1];
    made.from_width = from.back();
    made.to_width = to.back();
    if (from.size() == 4) made.from_height = from[2];
    if (from.size() == 4) made.to_height = to[2];
    return true;
}

bool is_scattering(const Node& node) {
    return body_consists_of(node, {{graph::op::Expand, 0, 1}, {graph::op::ScatterElements, 1, 1}});
}

std::optional<MaxPooling> max_pooling(const Task& task) {
    const Node& node = task.node();
    const bool gradient = node.op == graph::op::MaxPoolGrad;
    if (task.region.nodes.size() != 1 || (!gradient && node.op != graph::op::MaxPool) ||
        node.integer("storage_order", 0) != 0)
        return std::nullopt;
    if (gradient && (!is_scattering(node) || node.inputs.size() != 2)) return std::nullopt;
    const ValueId narrow = gradient ? node.inputs[0] : node.output(0),
                  wide = gradient ? node.output(0) : node.input(0);
    const ValueId indices = gradient ? node.inputs[1] : node.output(1);
    for (const ValueId id : {narrow, wide, indices})
        if (id == ValueId::none || !task.type(id).known()) return std::nullopt;
    if (!task.input_index(gradient ? narrow : wide) || (gradient && !task.input_index(indices)))
        return std::nullopt;
    MaxPooling made{.gradient = gradient, .node = node.name};
    const Dims from = task.dims(wide), to = task.dims(narrow);
    if (!is_f32_of(task, wide, from) || !is_f32_of(task, narrow, to) || task.dims(indices) != to ||
        task.type(indices).element != ElementType::i64 || !set_planes(from, to, made))
        return std::nullopt;
    if (gradient) return made;
    const Dims kernel = node.get("kernel_shape", Dims());
    const auto windows = graph::Windows::of(node, graph::shape_of(kernel));
    if (!windows.ok() || kernel.size() + 2 != from.size()) return std::nullopt;
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        const std::size_t at = axis + 2 - kernel.size();
        made.kernel[at] = kernel[axis];
        made.strides[at] = windows->strides[axis];
        made.dilations[at] = windows->dilations[axis];
        made.before[at] = windows->begin(axis, from[axis + 2], to[axis + 2]);
    }
    return made;
}

std::vector<plan::Choice> offers_max_pool(const Task& task) {
    if (!max_pooling(task)) return {};
    return {task.plain_choice(std::string(max_pool_family_name))};
}

// The first and the last tap of a window along one axis that lie inside the input.
std::pair<std::int64_t, std::int64_t> taps(const MaxPooling& w, std::size_t axis, std::int64_t o,
                                           std::int64_t extent) {
    const std::int64_t start = o * w.strides[axis] - w.before[axis], step = w.dilations[axis];
    const std::int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
    const std::int64_t last = start >= extent ? 0 : std::min(w.kernel[axis], (extent - 1 - start) / step + 1);
    return {first, last};
}

// The maximum of one window, and its place in the plane; -1 if the window lies wholly in the padding.
std::pair<float, std::int64_t> window_maximum(const MaxPooling& w, const float* from, std::int64_t y,
                                              std::int64_t x) {
    const auto [top, bottom] = taps(w, 0, y, w.from_height);
    const auto [left, right] = taps(w, 1, x, w.from_width);
    float most = std::numeric_limits<float>::lowest();
    std::int64_t best = -1;
    for (std::int64_t i = top; i < bottom; ++i)
        for (std::int64_t j = left; j < right; ++j) {
            const std::int64_t cell = (y * w.strides[0] - w.before[0] + i * w.dilations[0]) * w.from_width +
                                      x * w.strides[1] - w.before[1] + j * w.dilations[1];
            const float value = from[cell];
            if (best < 0 || value > most || value != value) most = value, best = cell;
        }
    return {most, best};
}

// Larger windows are not computed in vectors, and longer rows in several parts.
constexpr std::int64_t most_taps = 64, most_at_once = 256;

// `count` windows of a row from `first` on in vectors, at most `most_at_once`. All columns of these windows
// lie in the image.
void pool_inside(const MaxPooling& w, const float* from, std::int64_t y, std::int64_t first,
                 std::int64_t count, float* most, std::int64_t* places) {
    const auto [top, bottom] = taps(w, 0, y, w.from_height);
    std::int32_t offsets[most_taps], found[most_at_once];
    std::int64_t n = 0;
    for (std::int64_t i = top; i < bottom; ++i)
        for (std::int64_t j = 0; j < w.kernel[1]; ++j)
            offsets[n++] = static_cast<std::int32_t>((y * w.strides[0] - w.before[0] + i * w.dilations[0]) *
                                                         w.from_width +
                                                     first * w.strides[1] - w.before[1] + j * w.dilations[1]);
    simd::window_maxima({from, offsets, n, w.strides[1], count}, most, found);
    std::copy_n(found, count, places);
}

void pool_plane(const MaxPooling& w, const float* from, std::int64_t first_index, float* to,
                std::int64_t* indices) {
    const std::int64_t reach = (w.kernel[1] - 1) * w.dilations[1] + 1, step = w.strides[1];
    // Windows [first_inside, end_inside) of a row have all their columns in the image.
    const std::int64_t first_inside = (std::max<std::int64_t>(w.before[1], 0) + step - 1) / step;
    const std::int64_t room = w.from_width - reach + w.before[1];
    const std::int64_t end_inside = room < 0 ? 0 : std::min(w.to_width, room / step + 1);
    const bool vectors =
        w.kernel[0] * w.kernel[1] <= most_taps && w.from_cells() <= std::numeric_limits<std::int32_t>::max();
    float most[most_at_once];
    std::int64_t places[most_at_once];
    for (std::int64_t y = 0; y < w.to_height; ++y) {
        const auto [top, bottom] = taps(w, 0, y, w.from_height);
        for (std::int64_t x = 0; x < w.to_width;) {
            std::int64_t count = 1;
            if (vectors && top < bottom && x >= first_inside && x < end_inside) {
                count = std::min(most_at_once, end_inside - x);
                pool_inside(w, from, y, x, count, most, places);
            } else {
                std::tie(most[0], places[0]) = window_maximum(w, from, y, x);
            }
            const std::int64_t o = y * w.to_width + x;
            if (to != nullptr) std::copy_n(most, count, to + o);
            for (std::int64_t i = 0; indices != nullptr && i < count; ++i)
                indices[o + i] = places[i] < 0 ? 0 : first_index + places[i];
            x += count;
        }
    }
}

// Every index names an element of the plane.
void scatter_plane(const MaxPooling& w, const float* g, const std::int64_t* indices, std::int64_t first_index,
                   float* to) {
    std::fill_n(to, w.from_cells(), 0.0F);
    for (std::int64_t o = 0; o < w.to_cells(); ++o) {
        to[indices[o] - first_index] += g[o];
    }
}

// A window that lies wholly in the padding names element 0 of the tensor, which is in another plane than
// most windows.
bool stay_in_planes(const MaxPooling& w, const std::int64_t* indices) {
    for (std::int64_t plane = 0; plane < w.planes; ++plane)
        for (std::int64_t o = 0; o < w.to_cells(); ++o) {
            const std::int64_t cell = indices[plane * w.to_cells() + o] - plane * w.from_cells();
            if (cell < 0 || cell >= w.from_cells()) return false;
        }
    return true;
}

// Adds to whatever element of the tensor an index names; negative indices count from its end, as those of
// ScatterElements do. Throws KernelFailure.
void scatter_anywhere(const MaxPooling& w, const float* g, const std::int64_t* indices, float* to) {
    const std::int64_t cells = w.planes * w.from_cells();
    std::fill_n(to, cells, 0.0F);
    for (std::int64_t o = 0; o < w.planes * w.to_cells(); ++o) {
        const std::int64_t cell = indices[o] < 0 ? indices[o] + cells : indices[o];
        if (cell < 0 || cell >= cells)
            throw KernelFailure{fail(ErrorCode::mismatch, "give it the indices of the pool",
                                     "node `{}` is given the index {} of {} elements", w.node, indices[o],
                                     cells)};
        to[cell] += g[o];
    }
}

Result<Kernel> prepare_max_pool(const Task& task, const plan::Choice& choice) {
    const auto work = max_pooling(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    const Port values = port_of(task, task.node().inputs[0], kernel);
    const auto maxima = output_index(task, 0), places = output_index(task, 1);
    const std::size_t indices = work->gradient ? *task.input_index(task.node().inputs[1]) : 0;
    kernel.run = [=, w = *work, threads = task.context.threads](const Pointers& pointers) {
        const auto* given =
            w.gradient ? reinterpret_cast<const std::int64_t*>(pointers.inputs[indices]) : nullptr;
        auto* const out = maxima ? reinterpret_cast<float*>(pointers.outputs[*maxima]) : nullptr;
        auto* const found = places ? reinterpret_cast<std::int64_t*>(pointers.outputs[*places]) : nullptr;
        const float* const in = values.at(pointers);
        if (w.gradient && !stay_in_planes(w, given)) return scatter_anywhere(w, in, given, out);
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t p = first; p < last; ++p) {
                const std::int64_t wide = p * w.from_cells(), narrow = p * w.to_cells();
                if (w.gradient)
                    scatter_plane(w, in + narrow, given + narrow, wide, out + wide);
                else
                    pool_plane(w, in + wide, wide, out == nullptr ? nullptr : out + narrow,
                               found == nullptr ? nullptr : found + narrow);
            }
        };
        if (w.planes * w.from_cells() < 8192) return work_on(0, w.planes);
        in_shares(threads, w.planes, work_on);
    };
    return kernel;
}

}  // namespace

Family max_pool_family() { return {max_pool_family_name, offers_max_pool, prepare_max_pool}; }

}  // namespace viridian::execute::cpu
