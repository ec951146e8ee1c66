// Products with a constant matrix in bf16 by our micro-kernel: rows packed in blocks of 16 along K, weights
// packed once. `columns`: each weight is read by one thread only; `rows`: each row is.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/matmul_plan.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/bf16/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using simd::block;

constexpr std::string_view simd_bf16_matmul_family_name = "simd:bf16_matmul";
constexpr std::int64_t most_rows = 140;             // multiplied at once by a thread
constexpr std::int64_t simd_bf16_matmul_chunk = 8;  // groups of columns whose results wait in f32 for a chain
constexpr int width = 2;                            // blocks of columns of a group

struct SimdBf16MatmulWork {
    std::int64_t m, n, k;
    bool by_columns = true;
    bool narrow = false;  // the result in bf16
    simd::Groups groups;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;
    [[nodiscard]] std::int64_t source_blocks() const { return (k + block - 1) / block; }
    [[nodiscard]] std::int64_t slice() const { return std::min(m, most_rows); }
    // In elements: packed rows, all or a slice for each thread.
    [[nodiscard]] std::int64_t packed() const {
        return source_blocks() * block * (by_columns ? m : slice() * threads);
    }
    // Of a thread, where a chain follows: results, then the chain's scratch.
    [[nodiscard]] std::int64_t waiting_floats() const {
        return fused.chain ? (slice() + 1) * simd_bf16_matmul_chunk * width * block : 0;
    }
    [[nodiscard]] Bytes workspace() const {
        return Bytes((packed() * 2 + 63) / 64 * 64 + waiting_floats() * threads * 4);
    }
};

// Rows [first, last) of a row-major matrix into [block of K][row][16], the rows counted from `origin` in a
// panel of `rows`.
void pack_rows(const SimdBf16MatmulWork& w, const std::uint16_t* a, std::uint16_t* to, std::int64_t first,
               std::int64_t last, std::int64_t origin, std::int64_t rows) {
    const std::int64_t whole = w.k / block;
    for (std::int64_t r = first; r < last; ++r) {
        const std::uint16_t* from = a + r * w.k;
        std::uint16_t* at = to + (r - origin) * block;
        for (std::int64_t kb = 0; kb < whole; ++kb, from += block, at += rows * block)
            std::copy_n(from, block, at);
        if (w.k % block == 0) continue;
        std::copy_n(from, w.k % block, at);
        std::fill(at + w.k % block, at + block, std::uint16_t{0});
    }
}

struct SimdBf16MatmulRows {
    const std::uint16_t* panel = nullptr;
    std::int64_t in_panel = 0;         // rows of the panel
    std::int64_t origin = 0;           // its first
    std::int64_t first = 0, last = 0;  // to be multiplied
};

// `rows` × one group of columns: stored, or into `waiting` for a chain, whose rows are `pitch` apart.
void multiply(const SimdBf16MatmulWork& w, const Pointers& pointers, const SimdBf16MatmulRows& rows,
              std::int64_t group, float* waiting, std::int64_t pitch) {
    const std::int64_t column = group * width * block;
    const std::int64_t at = rows.first * w.n + column;
    simd::Bf16Strip s;
    s.pixels = rows.last - rows.first;
    s.columns = w.groups.width(group);
    s.source = rows.panel + (rows.first - rows.origin) * block;
    s.source_block = rows.in_panel * block;
    s.channels = w.k;
    s.weights = reinterpret_cast<const std::uint16_t*>(pointers.constants[0]) +
                w.groups.offset(group, (w.k + 1) / 2 * 2 * block);
    if (w.biased) s.bias = reinterpret_cast<const float*>(pointers.constants[1]) + column;
    if (w.fused.added) {
        s.add = pointers.inputs[*w.fused.added] + at * (w.narrow ? 2 : 4);
        s.add_narrow = w.narrow;
        s.add_pixel = w.n;
    }
    s.result_block = block;
    s.last_width = std::min(block, w.n - column - (s.columns - 1) * block);
    if (waiting != nullptr) {
        s.result = waiting;
        s.result_pixel = pitch;
    } else {
        s.result = pointers.outputs[0] + at * (w.narrow ? 2 : 4);
        s.narrow = w.narrow;
        s.result_pixel = w.n;
    }
    s.clip = w.fused.clip, s.low = w.fused.low, s.high = w.fused.high;
    simd::run(s);
}

void finish(const SimdBf16MatmulWork& w, const Pointers& pointers, std::int64_t row, std::int64_t column,
            std::int64_t n, float* made, float* scratch) {
    const std::int64_t at = row * w.n + column;
    w.fused.chain->run(pointers, made, made, at, n, scratch);
    if (w.narrow)
        simd::narrow(made, reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + at, n);
    else
        std::copy_n(made, n, reinterpret_cast<float*>(pointers.outputs[0]) + at);
}

// `rows` × groups [group, end).
void multiply(const SimdBf16MatmulWork& w, const Pointers& pointers, const SimdBf16MatmulRows& rows,
              std::int64_t group, std::int64_t end, float* waiting) {
    if (!w.fused.chain) {
        for (std::int64_t g = group; g < end; ++g) multiply(w, pointers, rows, g, nullptr, 0);
        return;
    }
    constexpr std::int64_t pitch = simd_bf16_matmul_chunk * width * block;
    for (std::int64_t g = group; g < end; g += simd_bf16_matmul_chunk) {
        const std::int64_t stop = std::min(end, g + simd_bf16_matmul_chunk);
        for (std::int64_t i = g; i < stop; ++i)
            multiply(w, pointers, rows, i, waiting + (i - g) * width * block, pitch);
        const std::int64_t column = g * width * block;
        const std::int64_t n = std::min(w.n, stop * width * block) - column;
        for (std::int64_t r = rows.first; r < rows.last; ++r)
            finish(w, pointers, r, column, n, waiting + (r - rows.first) * pitch,
                   waiting + w.slice() * pitch);
    }
}

void run_simd_bf16_matmul(const SimdBf16MatmulWork& w, const Pointers& pointers) {
    const auto* a = reinterpret_cast<const std::uint16_t*>(pointers.inputs[w.source]);
    auto* packed = reinterpret_cast<std::uint16_t*>(pointers.workspace);
    auto* floats = reinterpret_cast<float*>(pointers.workspace + (w.packed() * 2 + 63) / 64 * 64);
    if (w.by_columns)
        in_shares(w.threads, w.m, [&](std::int64_t first, std::int64_t last) {
            pack_rows(w, a, packed, first, last, 0, w.m);
        });
    parallel(w.threads, [&](int thread) {
        float* waiting = floats + thread * w.waiting_floats();
        if (w.by_columns) {
            const auto [group, end] = share(w.groups.count(), thread, w.threads);
            const std::int64_t slices = (w.m + most_rows - 1) / most_rows;
            for (std::int64_t i = 0; i < slices; ++i) {
                const auto [first, last] = share(w.m, i, slices);
                multiply(w, pointers, {packed, w.m, 0, first, last}, group, end, waiting);
            }
            return;
        }
        const auto [begin, stop] = share(w.m, thread, w.threads);
        std::uint16_t* own = packed + thread * w.slice() * w.source_blocks() * block;
        const std::int64_t slices = (stop - begin + most_rows - 1) / most_rows;
        for (std::int64_t i = 0; i < slices; ++i) {
            const auto [from, to] = share(stop - begin, i, slices);
            const std::int64_t first = begin + from, last = begin + to;
            pack_rows(w, a, own, first, last, first, last - first);
            multiply(w, pointers, {own, last - first, first, first, last}, 0, w.groups.count(), waiting);
        }
    });
}

SimdBf16MatmulWork work_of(const Task& task, const MatmulPlan& plan, bool by_columns,
                           std::vector<Packed>& constants) {
    SimdBf16MatmulWork w{};
    w.m = plan.product.m, w.n = plan.product.n, w.k = plan.product.k;
    w.by_columns = by_columns;
    w.groups = {w.n, width};
    w.biased = plan.bias != graph::ValueId::none;
    w.source = *task.input_index(plan.product.a);
    w.threads = task.context.threads;
    w.fused = *simd::Fused::make(task, plan.steps, plan.result, plan::plain(plan.result.size()), constants);
    return w;
}

std::vector<plan::Choice> offers_simd_bf16_matmul(const Task& task) {
    if (!task.context.multiplies_bf16()) return {};
    const auto plan = matmul_plan(task);
    // A few rows are a pass over the weights at the speed of memory, which the library does as well.
    if (!plan || plan->product.m < 8) return {};
    std::vector<plan::Choice> choices;
    for (const bool by_columns : {true, false})
        for (const ElementType result : {ElementType::bf16, ElementType::f32}) {
            if (!by_columns && !plan->by_rows(task.context.threads)) continue;
            std::vector<Packed> constants;
            const SimdBf16MatmulWork work = work_of(task, *plan, by_columns, constants);
            plan::Choice choice = task.plain_choice(
                fmt::format("{}:{}", simd_bf16_matmul_family_name, by_columns ? "columns" : "rows"));
            choice.variant.split = by_columns ? plan::Split::channels : plan::Split::rows;
            choice.inputs[work.source].element = ElementType::bf16;
            choice.outputs[0].element = result;
            if (work.fused.added) choice.inputs[*work.fused.added].element = result;
            choice.workspace = work.workspace();
            simd::offer_with_residual(task, plan->steps, plan->result, std::move(choice), choices);
        }
    return choices;
}

Result<Kernel> prepare_simd_bf16_matmul(const Task& task, const plan::Choice& choice) {
    const auto plan = matmul_plan(task);
    if (!plan) return unknown_kernel(choice);
    const simd::Groups groups{plan->product.n, width};
    Kernel kernel;
    kernel.constants.push_back(simd::pack_bf16_weights(task, plan->product.b, groups, 1, plan->product.k,
                                                       plan->packing(), plan->weight(task)));
    if (plan->bias != graph::ValueId::none)
        kernel.constants.push_back(simd::pack_bias(task, plan->bias, groups));
    SimdBf16MatmulWork work =
        work_of(task, *plan, choice.variant.split == plan::Split::channels, kernel.constants);
    work.narrow = in_bf16(choice.outputs[0]);
    kernel.workspace = work.workspace();
    kernel.run = [work = std::move(work)](const Pointers& pointers) { run_simd_bf16_matmul(work, pointers); };
    return kernel;
}

}  // namespace

Family simd_bf16_matmul_family() {
    return {simd_bf16_matmul_family_name, offers_simd_bf16_matmul, prepare_simd_bf16_matmul};
}

}  // namespace viridian::execute::cpu
