// MaxPool, AveragePool and their global forms: in f32 on nhwc, nChw16c and nChw8c, in bf16 on nhwc. Threads
// share the rows of results, or on nhwc the channels where there are fewer rows than threads.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/window/pooling.hpp"
#include "viridian/execute/cpu/simd/bf16/pool.hpp"
#include "viridian/execute/cpu/simd/convolution/window.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view simd_pooling_family_name = "simd:pool";
constexpr std::int64_t piece = 32;  // channels that are not shared among threads

// The window's cells along an axis that lie inside the source, for the result at `place`: [first, last).
std::pair<std::int64_t, std::int64_t> inside(const PoolingShape& shape, std::size_t axis,
                                             std::int64_t place) {
    const std::int64_t begin = place * shape.strides[axis] - shape.pads_begin[axis];
    const std::int64_t step = shape.dilations[axis], room = shape.source[axis + 2] - begin;
    return {begin < 0 ? (step - 1 - begin) / step : 0,
            std::min(shape.kernel[axis], room > 0 ? (room + step - 1) / step : 0)};
}

std::optional<PoolingShape> shape_of(const Task& task) {
    if (task.region.nodes.size() != 1 || task.region.inputs.empty()) return std::nullopt;
    auto shape = pooling_shape(task);
    if (!shape || shape->source.size() != 4) return std::nullopt;
    for (std::size_t axis = 0; axis < 2; ++axis)
        for (std::int64_t place = 0; place < shape->result[axis + 2]; ++place)
            if (const auto [first, last] = inside(*shape, axis, place); first >= last) return std::nullopt;
    return shape;
}

std::int64_t waiting_bytes(const PoolingShape& shape) {
    return simd::waiting_bytes(shape.maximum, shape.source[3], shape.source[1]);
}

// What both precisions' rows have.
template <class Row>
Row row_of(const PoolingShape& shape) {
    Row s;
    s.maximum = shape.maximum;
    s.channels = shape.source[1];
    s.width = shape.source[3], s.pixels = shape.result[3];
    s.columns = shape.kernel[1];
    s.stride = shape.strides[1], s.dilation = shape.dilations[1], s.pad = shape.pads_begin[1];
    if (shape.count_padding) s.divisor = shape.kernel[0] * shape.kernel[1];
    return s;
}

// The rows of a window that lie inside the source, for results at `place`.
struct SimdPoolingRows {
    std::int64_t first, count;
};
SimdPoolingRows rows_of(const PoolingShape& shape, std::int64_t place) {
    const auto [first, last] = inside(shape, 0, place);
    return {place * shape.strides[0] - shape.pads_begin[0] + first * shape.dilations[0], last - first};
}

// What a thread makes of so many rows of results.
struct Part {
    std::int64_t from, to, first, last;  // rows, channels
};
Part part_of(const PoolingShape& shape, std::int64_t rows, int thread, int threads) {
    const std::int64_t channels = shape.source[1];
    if (rows >= threads) {
        const auto [from, to] = share(rows, thread, threads);
        return {from, to, 0, channels};
    }
    const auto [first, last] = share((channels + piece - 1) / piece, thread, threads);
    return {0, rows, first * piece, std::min(channels, last * piece)};
}

void run_bf16(const PoolingShape& shape, int threads, const Pointers& pointers) {
    const std::int64_t height = shape.result[2], rows = shape.result[0] * height;
    parallel(threads, [&](int thread) {
        auto s = row_of<simd::PoolRow>(shape);
        s.source_row = shape.dilations[0] * s.width * s.channels;
        s.waiting = pointers.workspace + thread * waiting_bytes(shape);
        const Part part = part_of(shape, rows, thread, threads);
        s.first = part.first, s.last = part.last;
        for (std::int64_t row = part.from; row < part.to; ++row) {
            const auto [y, count] = rows_of(shape, row % height);
            s.rows = count;
            s.source = reinterpret_cast<const std::uint16_t*>(pointers.inputs[0]) +
                       (row / height * shape.source[2] + y) * s.width * s.channels;
            s.result = reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + row * s.pixels * s.channels;
            simd::run(s);
        }
    });
}

// Planes of `pixel` floats a pixel: images on nhwc (`block` is 0), their blocks of channels elsewhere.
void run_float(const PoolingShape& shape, std::int64_t block, int threads, const Pointers& pointers) {
    const std::int64_t height = shape.result[2];
    const bool blocked = block > 0;
    const std::int64_t pixel = blocked ? block : shape.source[1];
    const std::int64_t planes = shape.source[0] * ((shape.source[1] + pixel - 1) / pixel);
    parallel(threads, [&](int thread) {
        auto s = row_of<simd::WindowRow>(shape);
        s.pixel = pixel;
        s.source_row = shape.dilations[0] * s.width * pixel;
        const auto [from, to] =
            blocked ? share(planes * height, thread, threads) : std::pair{std::int64_t{0}, planes * height};
        const Part part = blocked ? Part{from, to, 0, block} : part_of(shape, to, thread, threads);
        s.channels = part.last - part.first;
        for (std::int64_t row = part.from; row < part.to; ++row) {
            const auto [y, count] = rows_of(shape, row % height);
            s.rows = count;
            s.source = reinterpret_cast<const float*>(pointers.inputs[0]) +
                       (row / height * shape.source[2] + y) * s.width * pixel + part.first;
            s.result = reinterpret_cast<float*>(pointers.outputs[0]) + row * s.pixels * pixel + part.first;
            if (s.channels > 0) simd::run(s);
        }
    });
}

std::vector<plan::Choice> offers_simd_pooling(const Task& task) {
    const auto shape = shape_of(task);
    if (!shape) return {};
    std::vector<plan::Choice> choices;
    const auto offer = [&](const plan::Layout& layout, graph::ElementType element, std::int64_t workspace) {
        plan::Choice choice = task.plain_choice(std::string(simd_pooling_family_name));
        choice.inputs[0] = choice.outputs[0] = {layout, element, {}};
        choice.workspace = Bytes(workspace);
        choices.push_back(std::move(choice));
    };
    offer(plan::channels_last(4), graph::ElementType::f32, 0);
    offer(plan::channels_blocked(4, 16), graph::ElementType::f32, 0);
    offer(plan::channels_blocked(4, 8), graph::ElementType::f32, 0);
    if (task.context.multiplies_bf16())
        offer(plan::channels_last(4), graph::ElementType::bf16, task.context.threads * waiting_bytes(*shape));
    return choices;
}

Result<Kernel> prepare_simd_pooling(const Task& task, const plan::Choice& choice) {
    const auto shape = shape_of(task);
    if (!shape) return unknown_kernel(choice);
    Kernel kernel;
    const int threads = task.context.threads;
    if (in_bf16(choice.inputs[0])) {
        kernel.workspace = Bytes(threads * waiting_bytes(*shape));
        kernel.run = [shape = *shape, threads](const Pointers& pointers) {
            run_bf16(shape, threads, pointers);
        };
    } else {
        const auto& blocks = choice.inputs[0].layout.blocks;
        const std::int64_t block = blocks.empty() ? 0 : blocks[0].size;
        kernel.run = [shape = *shape, block, threads](const Pointers& pointers) {
            run_float(shape, block, threads, pointers);
        };
    }
    return kernel;
}

}  // namespace

Family simd_pooling_family() { return {simd_pooling_family_name, offers_simd_pooling, prepare_simd_pooling}; }

}  // namespace viridian::execute::cpu
