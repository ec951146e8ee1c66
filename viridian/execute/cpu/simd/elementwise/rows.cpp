// Softmax, LogSoftmax and LayerNormalization along the last axis of row-major tensors, with element-wise
// steps before (scale, mask, residual) and after, one row at a time.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"
#include "viridian/execute/cpu/simd/elementwise/operands.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

constexpr std::string_view family = "simd:rows";
constexpr std::int64_t longest_row = 16384;

struct Rows {
    std::size_t source = 0;
    std::vector<EpilogueStep> before, after;
    Node norm;
    Dims dims;
};

bool normalizes_last_axis(const Task& task, const Node& node) {
    if (!node.op.domain().empty()) return false;
    const auto rank = static_cast<std::int64_t>(task.dims(node.inputs[0]).size());
    const auto axis = graph::normalize_axis(node.integer("axis", -1), rank);
    if (!axis.ok() || *axis != rank - 1) return false;
    if (node.op == graph::op::Softmax || node.op == graph::op::LogSoftmax) return true;
    if (node.op != graph::op::LayerNormalization) return false;
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none) return false;
    const std::int64_t n = task.dims(node.inputs[0]).back();
    const auto fits = [&](ValueId id) {
        const graph::Tensor* constant = task.graph.constant(id);
        return constant != nullptr && constant->count() == n;
    };
    return fits(node.input(1)) && (node.input(2) == ValueId::none || fits(node.input(2)));
}

std::optional<Rows> rows_of(const Task& task) {
    if (!task.all_f32() || task.region.outputs.size() != 1) return std::nullopt;
    std::size_t at = task.region.nodes.size();
    for (std::size_t i = 0; i < task.region.nodes.size(); ++i) {
        const Node& node = task.node(i);
        if (node.inputs.empty() || node.inputs[0] == ValueId::none || !task.type(node.inputs[0]).known() ||
            task.type(node.inputs[0]).element != graph::ElementType::f32 || task.dims(node.inputs[0]).empty())
            continue;
        if (normalizes_last_axis(task, node)) {
            at = i;
            break;
        }
    }
    if (at == task.region.nodes.size()) return std::nullopt;
    Rows rows;
    rows.norm = task.node(at);
    rows.dims = task.dims(rows.norm.inputs[0]);
    if (std::ranges::count(rows.dims, 0) > 0 || rows.dims.back() > longest_row) return std::nullopt;
    const auto known = [&](ValueId operand) {
        return operand == ValueId::none || task.graph.constant(operand) != nullptr ||
               task.input_index(operand);
    };
    auto after = read_steps(task, at + 1, rows.norm.outputs[0]);
    if (!after) return std::nullopt;
    rows.after = *std::move(after);
    for (const ValueId start : task.node().inputs) {
        if (start == ValueId::none || !task.input_index(start) || task.dims(start) != rows.dims) continue;
        ValueId value = start;
        rows.before.clear();
        bool chained = true;
        for (std::size_t i = 0; i < at && chained; ++i) {
            const auto step = as_step(task, task.node(i), value);
            chained = step && known(step->operand);
            if (chained) rows.before.push_back(*step), value = task.node(i).outputs[0];
        }
        if (chained && value == rows.norm.inputs[0]) {
            rows.source = *task.input_index(start);
            return rows;
        }
    }
    return std::nullopt;
}

std::vector<plan::Choice> offers(const Task& task) {
    const auto rows = rows_of(task);
    if (!rows) return {};
    std::vector<Packed> constants;
    const plan::Layout layout = plan::plain(rows->dims.size());
    if (!simd::Chain::make(task, rows->before, rows->dims, layout, constants) ||
        !simd::Chain::make(task, rows->after, rows->dims, layout, constants))
        return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(family))};
    if (task.region.dies[rows->source]) {
        plan::Choice in_place = choices[0];
        in_place.aliasing = plan::Aliasing::overwrite;
        in_place.overwritten = rows->source;
        choices.insert(choices.begin(), std::move(in_place));
    }
    offer_widened(
        task, [&](std::size_t i) { return task.dims(task.region.inputs[i]) == rows->dims; }, choices);
    return choices;
}

Result<Kernel> prepare(const Task& task, const plan::Choice& choice) {
    const auto rows = rows_of(task);
    if (!rows) return unknown_kernel(choice);
    Kernel kernel;
    const plan::Layout layout = plan::plain(rows->dims.size());
    auto before = simd::Chain::make(task, rows->before, rows->dims, layout, kernel.constants, &choice);
    auto after = simd::Chain::make(task, rows->after, rows->dims, layout, kernel.constants, &choice);
    if (!before || !after) return unknown_kernel(choice);
    enum class Norm : std::uint8_t { softmax, log_softmax, layer_norm } norm = Norm::softmax;
    std::size_t scale = 0, shift = 0;
    if (rows->norm.op == graph::op::LogSoftmax) norm = Norm::log_softmax;
    if (rows->norm.op == graph::op::LayerNormalization) {
        norm = Norm::layer_norm;
        scale = kernel.constants.size();
        kernel.constants.push_back(plain_constant(task, rows->norm.inputs[1]));
        if (rows->norm.input(2) != ValueId::none) {
            shift = kernel.constants.size();
            kernel.constants.push_back(plain_constant(task, rows->norm.inputs[2]));
        }
    }
    const auto epsilon = static_cast<float>(rows->norm.get("epsilon", 1e-5));
    const std::int64_t n = rows->dims.back();
    std::int64_t count = 1;
    for (std::size_t i = 0; i + 1 < rows->dims.size(); ++i) count *= rows->dims[i];
    const std::int64_t room = (n + 15) / 16 * 16;
    const int threads = task.context.threads;
    kernel.workspace = Bytes(room * 2 * 4 * threads);
    kernel.run = [=, before = *std::move(before), after = *std::move(after), source = rows->source,
                  reads_bf16 = in_bf16(choice.inputs[rows->source]),
                  writes_bf16 = in_bf16(choice.outputs[0])](const Pointers& pointers) {
        const std::byte* from = pointers.inputs[source];
        std::byte* to = pointers.outputs[0];
        const auto constant = [&](std::size_t i) {
            return reinterpret_cast<const float*>(pointers.constants[i]);
        };
        const auto work_on = [&](int thread, std::int64_t first, std::int64_t last) {
            float* row = reinterpret_cast<float*>(pointers.workspace) + thread * 2 * room;
            float* scratch = row + room;
            for (std::int64_t r = first; r < last; ++r) {
                const float* read = reinterpret_cast<const float*>(from) + r * n;
                if (reads_bf16) {
                    simd::widen(reinterpret_cast<const std::uint16_t*>(from) + r * n, row, n);
                    read = row;
                } else if (before.empty()) {
                    std::copy_n(read, n, row);
                }
                if (!before.empty()) before.run(pointers, read, row, r * n, n, scratch);
                switch (norm) {
                    case Norm::softmax:
                        simd::softmax_row(row, n);
                        break;
                    case Norm::log_softmax:
                        simd::log_softmax_row(row, n);
                        break;
                    case Norm::layer_norm:
                        simd::layer_norm_row(row, constant(scale), shift == 0 ? nullptr : constant(shift),
                                             epsilon, n);
                        break;
                }
                after.run(pointers, row, row, r * n, n, scratch);
                if (writes_bf16)
                    simd::narrow(row, reinterpret_cast<std::uint16_t*>(to) + r * n, n);
                else
                    std::copy_n(row, n, reinterpret_cast<float*>(to) + r * n);
            }
        };
        if (count * n < 8192) return work_on(0, 0, count);
        parallel(threads, [&](int thread) {
            const auto [first, last] = share(count, thread, threads);
            work_on(thread, first, last);
        });
    };
    return kernel;
}

}  // namespace

Family simd_rows_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
