// Products of two matrices that change from run to run, as in training steps, by our micro-kernel. Both are
// packed on the way, so that any order of their axes costs the same (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008): a panel of B stays in the L3 cache, a slice of A in L2, and
// a strip of the panel in L1; or all of A stays in L3, and a narrow panel of B in L2. Packing widens matrices
// in bf16, or the kernel multiplies them in pairs if the processor can. Sums are f32.
#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/contraction_work.hpp"
#include "viridian/execute/cpu/kernels/product/matrix.hpp"
#include "viridian/execute/cpu/kernels/product/tile_product.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using plan::Layout;

constexpr std::string_view contraction_family_name = "simd:contract";
constexpr std::string_view contraction_of_pairs = "simd:contract:bf16";
constexpr std::string_view contraction_of_tiles = "simd:contract:tiles";
constexpr std::string_view contraction_of_split = "simd:contract:bf16x3";
constexpr std::int64_t least_extent = 64;  // of M and N: smaller products do not pay for packing

// A product that this family computes, with its epilogue.
struct Contraction {
    MatrixProduct product;
    ValueId bias = ValueId::none;
    std::vector<EpilogueStep> steps;  // after the bias
    Dims result;                      // as the graph says
};

// Returns the epilogue of `of` after its bias. If `narrow` is null, the micro-kernel stores the result and
// applies what it can of the epilogue. Otherwise the result stays in f32 until the whole epilogue is applied,
// and is then rounded; the epilogue reads its operands in the formats of `narrow`.
std::optional<simd::Fused> fused_of(const Task& task, const Contraction& of, const plan::Choice* narrow,
                                    std::vector<Packed>& constants) {
    const Layout layout = plan::plain(of.result.size());
    if (narrow == nullptr) return simd::Fused::make(task, of.steps, of.result, layout, constants);
    simd::Fused fused;
    if (of.steps.empty()) return fused;
    fused.chain = simd::Chain::make(task, of.steps, of.result, layout, constants, narrow);
    return fused.chain ? std::optional(std::move(fused)) : std::nullopt;
}

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
    const auto is_operand = [&](ValueId id) { return id == product->a || id == product->b; };
    if (is_operand(made.bias)) return std::nullopt;
    for (const EpilogueStep& step : made.steps)
        if (is_operand(step.operand)) return std::nullopt;
    std::vector<Packed> constants;
    if (!fused_of(task, made, nullptr, constants)) return std::nullopt;
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

// Whether matrices in bf16 are multiplied in pairs; otherwise they are widened.
bool multiplies_pairs(const Task& task, const MatrixProduct& product) {
    return task.context.multiplies_bf16() && product.k % 2 == 0;
}

// The kernels that multiply matrices in bf16, the fastest first.
std::vector<std::string_view> kernels_in_bf16(const Task& task, const MatrixProduct& product) {
    if (!multiplies_pairs(task, product)) return {contraction_family_name};
    if (!tiles_run(task)) return {contraction_of_pairs};
    return {contraction_of_tiles, contraction_of_pairs};
}

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
    w.a.bf16 = in_bf16(choice.inputs[a]), w.b.bf16 = in_bf16(choice.inputs[b]);
    w.result.bf16 = in_bf16(choice.outputs[0]);
    w.together = w.a.bf16 && multiplies_pairs(task, product) ? 2 : 1;
    if (!is_dense(w.a) || !is_dense(w.b) || w.result.column != 1) return std::nullopt;
    if (result != plan::plain(of.result.size()) && !of.steps.empty()) return std::nullopt;
    w.threads = task.context.threads;
    w.biased = of.bias != ValueId::none;
    w.split = choice.kernel == contraction_of_split;
    w.tiles = w.split || choice.kernel == contraction_of_tiles;
    if (w.split && w.a.bf16 == w.b.bf16 && !w.a.bf16 && product.k % 2 == 0) w.together = 2;
    if (w.tiles && (w.together != 2 || !tiles_run(task))) return std::nullopt;
    w.chained = w.result.bf16 && !of.steps.empty();
    choose_pieces(w);
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
    const auto offer = [&](plan::Choice choice) {
        const auto work = work_of(task, *of, choice);
        if (!work) return;
        choice.workspace = work->workspace();
        simd::offer_with_residual(task, of->steps, of->result, std::move(choice), choices);
    };
    for (const Layout& left : product.collapsed ? plain_a : operand_orders(plain_a[0].rank(), false))
        for (const Layout& right : operand_orders(task.dims(product.b).size(), true))
            for (const Layout& result :
                 product.collapsed ? std::vector{plan::plain(rank)} : result_orders(rank)) {
                plan::Choice choice = task.plain_choice(std::string(contraction_family_name));
                choice.variant.split = plan::Split::rows;
                choice.inputs[a].layout = left;
                choice.inputs[b].layout = right;
                choice.outputs[0].layout = result;
                offer(choice);
                if (!task.context.allowances.bf16) continue;
                if (product.k % 2 == 0 && tiles_run(task)) {
                    plan::Choice split = choice;
                    split.kernel = contraction_of_split;
                    offer(std::move(split));
                }
                choice.inputs[a].element = choice.inputs[b].element = graph::ElementType::bf16;
                plan::Choice narrow = choice;
                narrow.outputs[0].element = graph::ElementType::bf16;
                for (const EpilogueStep& step : of->steps)
                    if (const auto i = task.input_index(step.operand);
                        i && task.dims(step.operand) == of->result)
                        narrow.inputs[*i].element = graph::ElementType::bf16;
                for (const std::string_view kernel : kernels_in_bf16(task, product)) {
                    choice.kernel = narrow.kernel = kernel;
                    offer(choice);
                    offer(narrow);
                }
            }
    return choices;
}

Result<Kernel> prepare_contraction(const Task& task, const plan::Choice& choice) {
    const auto of = contraction(task);
    auto work = of ? work_of(task, *of, choice) : std::nullopt;
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    if (work->biased) work->bias = port_of(task, of->bias, kernel);
    auto fused = fused_of(task, *of, work->result.bf16 ? &choice : nullptr, kernel.constants);
    if (!fused) return unknown_kernel(choice);
    work->fused = *std::move(fused);
    kernel.workspace = work->workspace();
    kernel.run = [w = *std::move(work)](const Pointers& pointers) { run_contraction(w, pointers); };
    return kernel;
}

}  // namespace

Family contraction_family() { return {contraction_family_name, offers_contraction, prepare_contraction}; }

}  // namespace viridian::execute::cpu
