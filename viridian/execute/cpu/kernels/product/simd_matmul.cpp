// Products with a constant matrix by our micro-kernel: rows packed in blocks of 16 along K, weights packed
// once, each read by one thread. One row is a pass over the weights at the speed of memory.
#include <algorithm>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/product/matmul_plan.hpp"
#include "viridian/execute/cpu/kernels/product/strassen.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

constexpr std::string_view simd_matmul_family_name = "simd:matmul";
constexpr std::int64_t simd_matmul_slice = 112;  // rows packed and multiplied at once by a thread

struct SimdMatmulWork {
    std::int64_t m, n, k;
    bool by_channels = true;
    simd::Groups groups;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;
    std::int64_t cache = 1 << 20;  // bytes of a thread's second one
    [[nodiscard]] std::int64_t source_blocks() const { return (k + block - 1) / block; }
    // Of K, for so many rows: where these do not fit the second cache, of a quarter of it.
    [[nodiscard]] std::int64_t chunks(std::int64_t rows) const {
        const std::int64_t bytes = rows * k * 4;
        return rows == 1 || bytes <= cache ? 1 : std::min(source_blocks(), (4 * bytes + cache - 1) / cache);
    }
    [[nodiscard]] std::int64_t packed_floats() const {  // of all rows, or of a slice for each thread
        return m == 1 ? 0 : source_blocks() * block * (by_channels ? m : simd_matmul_slice * threads);
    }
};

// Rows [first, last) of a row-major matrix into [block of K][row][16], the rows counted from `origin` in a
// panel of `rows`.
void pack_rows(const SimdMatmulWork& w, const float* a, float* to, std::int64_t first, std::int64_t last,
               std::int64_t origin, std::int64_t rows) {
    for (std::int64_t r = first; r < last; ++r)
        for (std::int64_t kb = 0; kb < w.source_blocks(); ++kb)
            std::copy_n(a + r * w.k + kb * block, std::min(block, w.k - kb * block),
                        to + (kb * rows + r - origin) * block);
}

// Rows [first, last) × groups [group, end) from a packed panel that starts at row `origin`. Rows too long for
// the second cache pass in chunks of K, whose sums wait in the result.
void multiply(const SimdMatmulWork& w, const Pointers& pointers, const float* panel, std::int64_t origin,
              std::int64_t rows, std::int64_t first, std::int64_t last, std::int64_t group,
              std::int64_t end) {
    constexpr std::int64_t no_offset = 0;
    const auto* weights = reinterpret_cast<const float*>(pointers.constants[0]);
    const auto* bias = w.biased ? reinterpret_cast<const float*>(pointers.constants[1]) : nullptr;
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
    const float* add =
        w.fused.added ? reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) : nullptr;
    const std::int64_t chunks = w.chunks(last - first);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const auto [from, to] = share(w.source_blocks(), chunk, chunks);
        for (std::int64_t g = group; g < end; ++g) {
            const std::int64_t column = g * w.groups.columns * block;
            const std::int64_t at = first * w.n + column;
            simd::Strip s;
            s.pixels = last - first;
            s.columns = w.groups.width(g);
            s.source = panel + (from * rows + first - origin) * block;
            s.source_block = rows * block;
            s.taps = &no_offset;
            s.channels = std::min(w.k, to * block) - from * block;
            const std::int64_t passed = from * block * s.columns * block;  // weights of the chunks before
            s.weights = weights + w.groups.offset(g, w.k * block) + passed;
            if (chunks > 1 && g + 1 < end) {
                s.ahead = weights + w.groups.offset(g + 1, w.k * block) + passed;
                s.ahead_step = simd::ahead_step(s.pixels, s.columns);
            }
            s.result = result + at;
            if (chunk == 0) {
                s.bias = bias == nullptr ? nullptr : bias + column;
                s.add = add == nullptr ? nullptr : add + at;
            } else {
                s.add = s.result;
            }
            s.result_pixel = w.n;
            s.result_block = block;
            s.last_width = std::min(block, w.n - column - (s.columns - 1) * block);
            s.clip = w.fused.clip && chunk + 1 == chunks;
            s.low = w.fused.low, s.high = w.fused.high;
            simd::run(s);
        }
    }
    if (!w.fused.chain || group == end) return;
    alignas(64) float scratch[1024];
    const std::int64_t from = group * w.groups.columns * block;
    const std::int64_t to = std::min(w.n, end * w.groups.columns * block);
    for (std::int64_t r = first; r < last; ++r)
        for (std::int64_t c = from; c < to; c += 1024) {
            float* at = result + r * w.n + c;
            w.fused.chain->run(pointers, at, at, r * w.n + c, std::min<std::int64_t>(1024, to - c), scratch);
        }
}

void run_simd_matmul(const SimdMatmulWork& w, const Pointers& pointers) {
    const auto* a = reinterpret_cast<const float*>(pointers.inputs[w.source]);
    auto* packed = reinterpret_cast<float*>(pointers.workspace);
    if (w.by_channels && w.m > 1)
        in_shares(w.threads, w.m, [&](std::int64_t first, std::int64_t last) {
            pack_rows(w, a, packed, first, last, 0, w.m);
        });
    parallel(w.threads, [&](int thread) {
        const auto [group, end] = share(w.groups.count(), thread, w.threads);
        if (w.m == 1) return multiply(w, pointers, a, 0, 1, 0, 1, group, end);
        if (w.by_channels) {
            const std::int64_t slices = (w.m + simd_matmul_slice - 1) / simd_matmul_slice;
            for (std::int64_t i = 0; i < slices; ++i) {
                const auto [row, stop] = share(w.m, i, slices);
                multiply(w, pointers, packed, 0, w.m, row, stop, group, end);
            }
            return;
        }
        float* own = packed + thread * simd_matmul_slice * w.source_blocks() * block;
        const auto [first, last] = share(w.m, thread, w.threads);
        for (std::int64_t row = first; row < last; row += simd_matmul_slice) {
            const std::int64_t stop = std::min(last, row + simd_matmul_slice);
            pack_rows(w, a, own, row, stop, row, stop - row);
            multiply(w, pointers, own, row, stop - row, row, stop, 0, w.groups.count());
        }
    });
}

SimdMatmulWork work_of(const Task& task, const MatmulPlan& plan, bool by_channels) {
    SimdMatmulWork w{};
    w.m = plan.product.m, w.n = plan.product.n, w.k = plan.product.k;
    w.by_channels = by_channels;
    w.groups = {w.n, simd::best_columns()};
    w.biased = plan.bias != graph::ValueId::none;
    w.source = *task.input_index(plan.product.a);
    w.threads = task.context.threads;
    if (const std::int64_t bytes = this_machine().l2.value; bytes > 0) w.cache = bytes;
    return w;
}

Strassen strassen_of(const Task& task, const MatmulPlan& plan) {
    Strassen s;
    s.m = plan.product.m, s.n = plan.product.n, s.k = plan.product.k;
    s.source = *task.input_index(plan.product.a);
    s.biased = plan.bias != graph::ValueId::none;
    s.threads = task.context.threads;
    return s;
}

std::vector<plan::Choice> offers_simd_matmul(const Task& task) {
    const auto plan = matmul_plan(task);
    if (!plan) return {};
    std::vector<plan::Choice> choices;
    for (const bool by_channels : {true, false}) {
        if (!by_channels && !plan->by_rows(task.context.threads)) continue;
        plan::Choice choice = task.plain_choice(
            fmt::format("{}:{}", simd_matmul_family_name, by_channels ? "columns" : "rows"));
        choice.variant.split = by_channels ? plan::Split::channels : plan::Split::rows;
        choice.workspace = Bytes(work_of(task, *plan, by_channels).packed_floats() * 4);
        simd::offer_with_residual(task, plan->steps, plan->result, std::move(choice), choices);
    }
    const MatrixProduct& product = plan->product;
    if (task.context.allowances.strassen &&
        Strassen::fits(product.m, product.n, product.k, task.context.threads)) {
        plan::Choice choice = task.plain_choice(fmt::format("{}:strassen", simd_matmul_family_name));
        choice.variant.algorithm = plan::Algorithm::strassen;
        choice.workspace = strassen_of(task, *plan).workspace();
        simd::offer_with_residual(task, plan->steps, plan->result, std::move(choice), choices);
    }
    return choices;
}

Result<Kernel> prepare_strassen(const Task& task, const MatmulPlan& plan) {
    Strassen strassen = strassen_of(task, plan);
    const simd::Groups groups{strassen.n, simd::best_columns()};
    Kernel kernel;
    kernel.constants.push_back(
        pack_strassen(task, plan.product.b, strassen.n, strassen.k, plan.product.transpose_b));
    if (strassen.biased) kernel.constants.push_back(simd::pack_bias(task, plan.bias, groups));
    auto fused =
        simd::Fused::make(task, plan.steps, plan.result, plan::plain(plan.result.size()), kernel.constants);
    strassen.fused = *std::move(fused);
    strassen.ordinary = Strassen::is_ordinary(task.graph.constant(plan.product.b)->values<float>());
    kernel.workspace = strassen.workspace();
    kernel.run = [strassen = std::move(strassen)](const Pointers& pointers) { strassen.run(pointers); };
    return kernel;
}

Result<Kernel> prepare_simd_matmul(const Task& task, const plan::Choice& choice) {
    const auto plan = matmul_plan(task);
    if (!plan) return unknown_kernel(choice);
    if (choice.variant.algorithm == plan::Algorithm::strassen) return prepare_strassen(task, *plan);
    SimdMatmulWork work = work_of(task, *plan, choice.variant.split == plan::Split::channels);
    Kernel kernel;
    kernel.constants.push_back(simd::pack_weights(task, plan->product.b, work.groups, 1, work.k,
                                                  plan->packing(), plan->weight(task)));
    if (work.biased) kernel.constants.push_back(simd::pack_bias(task, plan->bias, work.groups));
    auto fused = simd::Fused::make(task, plan->steps, plan->result, plan::plain(plan->result.size()),
                                   kernel.constants);
    work.fused = *std::move(fused);
    kernel.workspace = Bytes(work.packed_floats() * 4);
    kernel.run = [work = std::move(work)](const Pointers& pointers) { run_simd_matmul(work, pointers); };
    return kernel;
}

}  // namespace

Family simd_matmul_family() { return {simd_matmul_family_name, offers_simd_matmul, prepare_simd_matmul}; }

}  // namespace viridian::execute::cpu
