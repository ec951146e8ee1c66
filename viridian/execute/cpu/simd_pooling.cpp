// MaxPool, AveragePool and their global forms on nhwc in bf16, both sides. Threads share the rows of results,
// or the channels where there are fewer rows than threads.
#include <algorithm>

#include "viridian/execute/cpu/families.hpp"
#include "viridian/execute/cpu/pooling.hpp"
#include "viridian/execute/cpu/simd/pool.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view family = "simd:pool";
constexpr std::int64_t piece = 32;  // channels of the micro-kernel

// The window's cells along an axis that lie inside the source, for the result at `place`: [first, last).
std::pair<std::int64_t, std::int64_t> inside(const PoolingShape& shape, std::size_t axis,
                                             std::int64_t place) {
    const std::int64_t begin = place * shape.strides[axis] - shape.pads_begin[axis];
    const std::int64_t step = shape.dilations[axis], room = shape.source[axis + 2] - begin;
    return {begin < 0 ? (step - 1 - begin) / step : 0,
            std::min(shape.kernel[axis], room > 0 ? (room + step - 1) / step : 0)};
}

std::optional<PoolingShape> shape_of(const Task& task) {
    if (!task.context.allowances.bf16 || task.region.nodes.size() != 1) return std::nullopt;
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

simd::PoolRow row_of(const PoolingShape& shape) {
    simd::PoolRow s;
    s.maximum = shape.maximum;
    s.channels = shape.source[1];
    s.width = shape.source[3], s.pixels = shape.result[3];
    s.columns = shape.kernel[1];
    s.stride = shape.strides[1], s.dilation = shape.dilations[1], s.pad = shape.pads_begin[1];
    if (shape.count_padding) s.divisor = shape.kernel[0] * shape.kernel[1];
    s.source_row = shape.dilations[0] * s.width * s.channels;
    return s;
}

void run(const PoolingShape& shape, int threads, const Pointers& pointers) {
    const std::int64_t height = shape.result[2];
    parallel(threads, [&](int thread) {
        simd::PoolRow s = row_of(shape);
        s.waiting = pointers.workspace + thread * waiting_bytes(shape);
        const std::int64_t rows = shape.result[0] * height;
        const bool by_rows = rows >= threads;
        const auto [from, to] = by_rows ? share(rows, thread, threads) : std::pair{std::int64_t{0}, rows};
        const auto [first_piece, last_piece] = share((s.channels + piece - 1) / piece, thread, threads);
        s.first = by_rows ? 0 : first_piece * piece;
        s.last = by_rows ? s.channels : std::min(s.channels, last_piece * piece);
        for (std::int64_t row = from; row < to; ++row) {
            const std::int64_t image = row / height, place = row % height;
            const auto [first, last] = inside(shape, 0, place);
            const std::int64_t y =
                place * shape.strides[0] - shape.pads_begin[0] + first * shape.dilations[0];
            s.rows = last - first;
            s.source = reinterpret_cast<const std::uint16_t*>(pointers.inputs[0]) +
                       (image * shape.source[2] + y) * s.width * s.channels;
            s.result = reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + row * s.pixels * s.channels;
            simd::run(s);
        }
    });
}

std::vector<plan::Choice> offers(const Task& task) {
    const auto shape = shape_of(task);
    if (!shape) return {};
    plan::Choice choice = task.plain_choice(std::string(family));
    choice.inputs[0] = choice.outputs[0] = {plan::channels_last(4), graph::ElementType::bf16, {}};
    choice.workspace = Bytes(task.context.threads * waiting_bytes(*shape));
    return {choice};
}

Result<Kernel> prepare(const Task& task, const plan::Choice& choice) {
    const auto shape = shape_of(task);
    if (!shape) return unknown_kernel(choice);
    Kernel kernel;
    kernel.workspace = Bytes(task.context.threads * waiting_bytes(*shape));
    kernel.run = [shape = *shape, threads = task.context.threads](const Pointers& pointers) {
        run(shape, threads, pointers);
    };
    return kernel;
}

}  // namespace

Family simd_pooling_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
