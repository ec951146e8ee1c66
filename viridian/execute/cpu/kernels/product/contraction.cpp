// Products of two matrices that change from run to run, as in training steps, by our micro-kernel. Both are
// packed on the way, so that any order of their axes costs the same (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008): a panel of B stays in the last cache, a slice of A in the
// second one, and a strip of the panel in the first.
#include <algorithm>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/product/matrix.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/attention/panels.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using plan::Layout;
using simd::block;
using simd::MatrixView;

constexpr std::string_view contraction_family_name = "simd:contract";
constexpr std::int64_t contraction_depth = 384;  // of K in one pass: 24 KiB of B's strip in the first cache
constexpr std::int64_t contraction_rows = 112;   // of a slice of A
constexpr std::int64_t usual_last_cache = 8 << 20;
constexpr std::int64_t least_extent = 64;  // of M and N: smaller products do not pay for packing

// Where the matrices of an operand begin, and its strides, in floats.
struct Matrices {
    std::size_t port = 0;
    std::vector<std::int64_t> starts;
    std::int64_t row = 0, column = 1;

    [[nodiscard]] MatrixView at(const Pointers& pointers, std::int64_t batch, std::int64_t i,
                                std::int64_t j) const {
        const auto* first = reinterpret_cast<const float*>(pointers.inputs[port]);
        return {first + starts[static_cast<std::size_t>(batch)] + i * row + j * column, row, column};
    }
};

struct ContractionWork {
    Matrices a, b, result;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t panel = 0;  // columns of B that are packed at once: whole groups
    std::int64_t slice = 0;  // rows of A
    int columns = 1;         // blocks of 16 of a group
    int threads = 1;
    bool biased = false;
    Port bias;
    simd::Fused fused;

    [[nodiscard]] std::int64_t batches() const { return static_cast<std::int64_t>(result.starts.size()); }
    // Whether each thread multiplies matrices of its own, or all share the rows of each.
    [[nodiscard]] bool apart() const { return batches() >= 2 * threads; }
    [[nodiscard]] std::int64_t passes() const { return (k + contraction_depth - 1) / contraction_depth; }
    // The part of K that a pass takes, in whole blocks but the last.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> depth(std::int64_t pass) const {
        const auto [first, last] = share((k + block - 1) / block, pass, passes());
        return {first * block, std::min(k, last * block)};
    }
    [[nodiscard]] std::int64_t bias_floats() const { return biased ? (n + 31) / 32 * 32 : 0; }
    [[nodiscard]] std::int64_t panel_floats() const { return (panel + block - 1) / block * block * k; }
    [[nodiscard]] std::int64_t slice_floats() const { return slice * (contraction_depth + block); }
    [[nodiscard]] std::int64_t thread_floats() const {
        return slice_floats() + (apart() ? panel_floats() : 0);
    }
    [[nodiscard]] Bytes workspace() const {
        return Bytes(4 * (bias_floats() + (apart() ? 0 : panel_floats()) + threads * thread_floats()));
    }
};

// Columns [first, last) of B of one batch, packed as [pass][group][row][columns].
struct Panel {
    std::int64_t batch = 0, first = 0, last = 0;
    float* packed = nullptr;
    simd::Groups groups;
};

// Packs a part of the panel's groups.
void pack(const ContractionWork& w, const Pointers& pointers, const Panel& panel, std::int64_t part,
          std::int64_t parts) {
    const auto [group, end] = share(panel.groups.count(), part, parts);
    if (group == end) return;
    const std::int64_t width = panel.groups.columns * block;
    const std::int64_t from = panel.first + group * width,
                       to = std::min(panel.last, panel.first + end * width);
    for (std::int64_t pass = 0; pass < w.passes(); ++pass) {
        const auto [row, last] = w.depth(pass);
        float* const packed = panel.packed + row * panel.groups.blocks() * block;
        simd::pack_panels(w.b.at(pointers, panel.batch, row, from), last - row, to - from, width,
                          packed + panel.groups.offset(group, (last - row) * block));
    }
}

// One pass over rows [first, last), packed in `rows`: result = rows · panel, or += after the first pass.
void multiply(const ContractionWork& w, const Pointers& pointers, const Panel& panel, std::int64_t pass,
              const float* rows, std::int64_t first, std::int64_t last, const float* bias) {
    constexpr std::int64_t no_offset = 0;
    const auto [from, to] = w.depth(pass);
    const std::int64_t start = w.result.starts[static_cast<std::size_t>(panel.batch)] + first * w.result.row;
    auto* const result = reinterpret_cast<float*>(pointers.outputs[0]) + start;
    const float* const add =
        !w.fused.added ? nullptr : reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) + start;
    const float* const weights = panel.packed + from * panel.groups.blocks() * block;
    for (std::int64_t g = 0; g < panel.groups.count(); ++g) {
        const std::int64_t column = panel.first + g * panel.groups.columns * block;
        simd::Strip s;
        s.pixels = last - first;
        s.columns = panel.groups.width(g);
        s.source = rows;
        s.source_block = s.pixels * block;
        s.taps = &no_offset;
        s.channels = to - from;
        s.weights = weights + panel.groups.offset(g, s.channels * block);
        if (g + 1 < panel.groups.count()) {
            s.ahead = weights + panel.groups.offset(g + 1, s.channels * block);
            s.ahead_step = simd::ahead_step(s.pixels, s.columns);
        }
        s.result = result + column;
        if (pass == 0) {
            s.bias = bias == nullptr ? nullptr : bias + column;
            s.add = add == nullptr ? nullptr : add + column;
        } else {
            s.add = s.result;
        }
        s.result_pixel = w.result.row;
        s.result_block = block;
        s.last_width = std::min(block, panel.last - column - (s.columns - 1) * block);
        s.clip = w.fused.clip && pass + 1 == w.passes();
        s.low = w.fused.low, s.high = w.fused.high;
        simd::run(s);
    }
}

// The rows of the result that belong to a share of all tiles of rows, for one panel.
void rows_of(const ContractionWork& w, const Pointers& pointers, const Panel& panel, float* packed,
             const float* bias, std::int64_t part, std::int64_t parts) {
    const std::int64_t tile = simd::tile_pixels();
    const auto [begin, end] = share((w.m + tile - 1) / tile, part, parts);
    const std::int64_t slices = ((end - begin) * tile + w.slice - 1) / w.slice;
    for (std::int64_t i = 0; i < slices; ++i) {
        const auto [one, other] = share(end - begin, i, slices);
        const std::int64_t first = (begin + one) * tile, last = std::min(w.m, (begin + other) * tile);
        for (std::int64_t pass = 0; pass < w.passes(); ++pass) {
            const auto [from, to] = w.depth(pass);
            simd::pack_panels(w.a.at(pointers, panel.batch, first, from), last - first, to - from, block,
                              packed);
            multiply(w, pointers, panel, pass, packed, first, last, bias);
        }
        if (!w.fused.chain) continue;
        alignas(64) float scratch[1024];
        auto* const result = reinterpret_cast<float*>(pointers.outputs[0]);
        for (std::int64_t r = first; r < last; ++r)
            for (std::int64_t c = panel.first; c < panel.last; c += 1024) {
                const std::int64_t at = panel.batch * w.m * w.n + r * w.n + c;
                w.fused.chain->run(pointers, result + at, result + at, at,
                                   std::min<std::int64_t>(1024, panel.last - c), scratch);
            }
    }
}

void run_contraction(const ContractionWork& w, const Pointers& pointers) {
    auto* const workspace = reinterpret_cast<float*>(pointers.workspace);
    float* const shared = workspace + w.bias_floats();
    float* const own = shared + (w.apart() ? 0 : w.panel_floats());
    const float* bias = nullptr;
    if (w.biased) {
        std::copy_n(w.bias.at(pointers), w.n, workspace);
        std::fill(workspace + w.n, shared, 0.0F);
        bias = workspace;
    }
    const auto panel_at = [&](std::int64_t batch, std::int64_t first, float* packed) {
        const std::int64_t last = std::min(w.n, first + w.panel);
        return Panel{batch, first, last, packed, {last - first, w.columns}};
    };
    if (w.apart())
        return parallel(w.threads, [&](int part) {
            float* const scratch = own + part * w.thread_floats();
            const auto [from, to] = share(w.batches(), part, w.threads);
            for (std::int64_t batch = from; batch < to; ++batch)
                for (std::int64_t first = 0; first < w.n; first += w.panel) {
                    const Panel panel = panel_at(batch, first, scratch + w.slice_floats());
                    pack(w, pointers, panel, 0, 1);
                    rows_of(w, pointers, panel, scratch, bias, 0, 1);
                }
        });
    for (std::int64_t batch = 0; batch < w.batches(); ++batch)
        for (std::int64_t first = 0; first < w.n; first += w.panel) {
            const Panel panel = panel_at(batch, first, shared);
            parallel(w.threads, [&](int part) { pack(w, pointers, panel, part, w.threads); });
            parallel(w.threads, [&](int part) {
                rows_of(w, pointers, panel, own + part * w.thread_floats(), bias, part, w.threads);
            });
        }
}

// A product that this family computes, with its epilogue.
struct Contraction {
    MatrixProduct product;
    ValueId bias = ValueId::none;
    std::vector<EpilogueStep> steps;  // after the bias
    Dims result;                      // as the graph says
};

std::optional<Contraction> contraction(const Task& task) {
    const auto product = matrix_product(task);
    if (!product || product->constant_b || product->n < least_extent || product->m < least_extent)
        return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    Contraction made{*product, product->bias, *std::move(steps), task.dims(task.node().outputs[0])};
    const auto is_bias = [&](const EpilogueStep& step) {
        if (step.function != Function::add) return false;
        const Dims dims = task.dims(step.operand);
        const auto count = graph::element_count(dims);
        return !dims.empty() && count.ok() && *count == product->n && dims.back() == product->n;
    };
    if (made.bias == ValueId::none && !made.steps.empty() && is_bias(made.steps[0])) {
        made.bias = made.steps[0].operand;
        made.steps.erase(made.steps.begin());
    }
    for (const EpilogueStep& step : made.steps)
        if (step.operand == product->a || step.operand == product->b) return std::nullopt;
    std::vector<Packed> constants;
    if (!simd::Fused::make(task, made.steps, made.result, plan::plain(made.result.size()), constants))
        return std::nullopt;
    return made;
}

// The matrices of a value that lies in `layout`, one for each entry of `batch`. Axes of extent 1 and those
// that the value lacks are repeated.
Matrices matrices_of(const Dims& dims, const Layout& layout, bool transposed, const Dims& batch) {
    const std::vector<std::int64_t> strides = plan::strides_of(layout, dims);
    const std::size_t rank = dims.size();
    Matrices made;
    made.row = strides[rank - 2], made.column = strides[rank - 1];
    if (transposed) std::swap(made.row, made.column);
    made.starts = {0};
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::size_t from_last = batch.size() - i + 2;  // the axis, counted from the last one
        const bool repeated = from_last > rank || dims[rank - from_last] == 1;
        const std::int64_t stride = repeated ? 0 : strides[rank - from_last];
        std::vector<std::int64_t> longer;
        for (const std::int64_t start : made.starts)
            for (std::int64_t j = 0; j < batch[i]; ++j) longer.push_back(start + j * stride);
        made.starts = std::move(longer);
    }
    return made;
}

// Whether the micro-kernels can read or write a matrix of these strides: one of them is 1.
bool is_dense(const Matrices& matrices) { return matrices.row == 1 || matrices.column == 1; }

std::optional<ContractionWork> work_of(const Task& task, const Contraction& of, const plan::Choice& choice) {
    const MatrixProduct& product = of.product;
    const std::size_t a = *task.input_index(product.a), b = *task.input_index(product.b);
    ContractionWork w;
    w.m = product.m, w.n = product.n, w.k = product.k;
    const Layout& result = choice.outputs[0].layout;
    if (product.collapsed) {
        w.a = {a, {0}, w.k, 1};
        w.result = {0, {0}, w.n, 1};
    } else {
        const Dims batch(of.result.begin(), of.result.end() - 2);
        w.a = matrices_of(task.dims(product.a), choice.inputs[a].layout, product.transpose_a, batch);
        w.result = matrices_of(of.result, result, false, batch);
    }
    const Dims batch = product.collapsed ? Dims() : Dims(of.result.begin(), of.result.end() - 2);
    w.b = matrices_of(task.dims(product.b), choice.inputs[b].layout, product.transpose_b, batch);
    w.a.port = a, w.b.port = b;
    if (!is_dense(w.a) || !is_dense(w.b) || w.result.column != 1) return std::nullopt;
    if (result != plan::plain(of.result.size()) && !of.steps.empty()) return std::nullopt;
    w.columns = simd::best_columns();
    w.threads = task.context.threads;
    w.slice = std::max<std::int64_t>(1, contraction_rows / simd::tile_pixels()) * simd::tile_pixels();
    const std::int64_t last_cache = this_machine().l3.value, width = w.columns * block;
    const std::int64_t cache = last_cache > 0 ? last_cache : usual_last_cache;
    const std::int64_t room = cache / 2 / (w.apart() ? w.threads : 1);
    const std::int64_t panels = (w.k * w.n * 4 + room - 1) / room;
    w.panel = ((w.n + panels - 1) / panels + width - 1) / width * width;
    w.biased = of.bias != ValueId::none;
    return w;
}

std::vector<plan::Choice> offers_contraction(const Task& task) {
    const auto of = contraction(task);
    if (!of) return {};
    const MatrixProduct& product = of->product;
    const std::size_t a = *task.input_index(product.a), b = *task.input_index(product.b);
    const std::size_t rank = of->result.size();
    const auto plain_a = std::vector{plan::plain(task.dims(product.a).size())};
    std::vector<plan::Choice> choices;
    for (const Layout& left : product.collapsed ? plain_a : operand_orders(plain_a[0].rank(), false))
        for (const Layout& right : operand_orders(task.dims(product.b).size(), true))
            for (const Layout& result :
                 product.collapsed ? std::vector{plan::plain(rank)} : result_orders(rank)) {
                plan::Choice choice = task.plain_choice(std::string(contraction_family_name));
                choice.variant.split = plan::Split::rows;
                choice.inputs[a].layout = left;
                choice.inputs[b].layout = right;
                choice.outputs[0].layout = result;
                const auto work = work_of(task, *of, choice);
                if (!work) continue;
                choice.workspace = work->workspace();
                simd::offer_with_residual(task, of->steps, of->result, std::move(choice), choices);
            }
    return choices;
}

Result<Kernel> prepare_contraction(const Task& task, const plan::Choice& choice) {
    const auto of = contraction(task);
    auto work = of ? work_of(task, *of, choice) : std::nullopt;
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    if (work->biased) work->bias = port_of(task, of->bias, kernel);
    auto fused =
        simd::Fused::make(task, of->steps, of->result, plan::plain(of->result.size()), kernel.constants);
    work->fused = *std::move(fused);
    kernel.workspace = work->workspace();
    kernel.run = [w = *std::move(work)](const Pointers& pointers) { run_contraction(w, pointers); };
    return kernel;
}

}  // namespace

Family contraction_family() { return {contraction_family_name, offers_contraction, prepare_contraction}; }

}  // namespace viridian::execute::cpu
