// LayerNormalization with the mean and the inverse deviation as outputs and parameters that change, its
// gradients, and that of Softmax, one row of a row-major tensor at a time. Whole tensors may be stored in
// bf16: a row is widened before it is read, and rounded after it is made. Statistics and parameters stay f32.
#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/kernels/training/row_operator.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

constexpr std::string_view row_normalization_family_name = "simd:rownorm";
constexpr std::int64_t column_strip = 256;  // columns whose sums one thread keeps

struct RowNormalization {
    RowOperator op = RowOperator::forward;
    std::int64_t rows = 1, n = 1;
    float epsilon = 0;
    int threads = 1;
    std::int64_t scratch_rows = 0;  // of each thread

    [[nodiscard]] Bytes workspace() const { return Bytes(threads * scratch_rows * aligned_bytes(n * 4)); }
    // Row `i` of the scratch of thread `part`.
    [[nodiscard]] float* scratch(const Pointers& pointers, int part, std::int64_t i) const {
        return reinterpret_cast<float*>(pointers.workspace +
                                        (part * scratch_rows + i) * aligned_bytes(n * 4));
    }
};

// A whole tensor that is read.
struct RowsRead {
    Port port;
    std::int64_t scratch = 0;  // its row of the scratch, if it is in bf16
};

// A whole tensor that is written; `index` is empty if it is not an output of the region.
struct RowsWritten {
    std::optional<std::size_t> index;
    bool bf16 = false;
    std::int64_t scratch = 0;
};

std::int64_t product_of(const Dims& dims, std::size_t first, std::size_t last) {
    std::int64_t all = 1;
    for (std::size_t i = first; i < last; ++i) all *= dims[i];
    return all;
}

// The inputs of each operator: which are whole, one number a row, one number a column.
bool ports_fit(const Task& task, RowOperator op, const Dims& dims, std::size_t axis, std::int64_t rows) {
    const Node& node = task.node();
    const auto whole = [&](std::size_t i) { return is_f32_of(task, node.input(i), dims); };
    const auto row = [&](ValueId id) { return is_row(task, id, dims, axis); };
    const auto statistic = [&](ValueId id) { return is_statistic(task, id, rows); };
    switch (op) {
        case RowOperator::forward:
            return whole(0) && row(node.input(1)) && (node.input(2) == ValueId::none || row(node.input(2))) &&
                   (node.output(1) == ValueId::none || statistic(node.output(1))) &&
                   (node.output(2) == ValueId::none || statistic(node.output(2)));
        case RowOperator::input_gradient:
            return whole(0) && whole(1) && row(node.input(2)) && statistic(node.input(3)) &&
                   statistic(node.input(4)) && is_f32_of(task, node.output(0), dims);
        case RowOperator::scale_gradient:
            return whole(0) && whole(1) && statistic(node.input(2)) && statistic(node.input(3)) &&
                   row(node.output(0)) && (node.output(1) == ValueId::none || row(node.output(1)));
        case RowOperator::softmax_gradient:
            return whole(0) && whole(1) && is_f32_of(task, node.output(0), dims);
    }
    return false;
}

std::optional<RowNormalization> row_normalization(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.inputs.size() < 2 || node.input(0) == ValueId::none ||
        !task.type(node.inputs[0]).known())
        return std::nullopt;
    const auto op = row_operator(node);
    if (!op) return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto axis = graph::normalize_axis(node.integer("axis", -1), rank);
    if (!axis.ok() || std::ranges::count(dims, 0) > 0) return std::nullopt;
    if (op == RowOperator::softmax_gradient && *axis != rank - 1) return std::nullopt;
    const auto at = static_cast<std::size_t>(*axis);
    RowNormalization made{*op,
                          product_of(dims, 0, at),
                          product_of(dims, at, dims.size()),
                          static_cast<float>(node.get("epsilon", 1e-5)),
                          task.context.threads,
                          0};
    if (!ports_fit(task, *op, dims, at, made.rows)) return std::nullopt;
    return made;
}

// The rows of scratch that a thread needs: for two tensors that are read and one that is written.
std::int64_t rows_of_scratch(const RowNormalization& work, const plan::Choice& choice) {
    return work.op != RowOperator::scale_gradient && in_bf16(choice) ? 3 : 0;
}

std::vector<plan::Choice> offers_row_normalization(const Task& task) {
    auto work = row_normalization(task);
    if (!work) return {};
    const Node& node = task.node();
    const bool one = work->op == RowOperator::forward, columns = work->op == RowOperator::scale_gradient;
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(row_normalization_family_name))};
    const auto y = output_index(task, 0);
    // A tensor that is also a parameter or a statistic must stay in f32.
    const auto reads = [&](std::size_t i) {
        const ValueId id = task.region.inputs[i];
        const auto is_id = [&](ValueId other) { return other == id; };
        const auto whole = std::span(node.inputs).first(one ? 1 : 2);
        return std::ranges::any_of(whole, is_id) &&
               std::ranges::none_of(std::span(node.inputs).subspan(whole.size()), is_id);
    };
    offer_widened(task, reads, choices, [&](std::size_t i) { return !columns && i == y; });
    for (plan::Choice& choice : choices) {
        work->scratch_rows = rows_of_scratch(*work, choice);
        choice.workspace = work->workspace();
    }
    return choices;
}

// Rows are shared between the threads: f(row, thread).
template <class F>
void over_rows(const RowNormalization& w, const F& f) {
    if (w.rows * w.n < 8192) {
        for (std::int64_t row = 0; row < w.rows; ++row) f(row, 0);
        return;
    }
    parallel(w.threads, [&](int part) {
        const auto [first, last] = share(w.rows, part, w.threads);
        for (std::int64_t row = first; row < last; ++row) f(row, part);
    });
}

float* output_at(const Pointers& pointers, const std::optional<std::size_t>& index) {
    return index ? reinterpret_cast<float*>(pointers.outputs[*index]) : nullptr;
}

// Holds what the make_… functions need to build the kernel of a choice.
struct MakingRows {
    const Task& task;
    const plan::Choice& choice;
    Kernel& kernel;
    RowNormalization work;
    std::int64_t taken = 0;  // rows of the scratch

    RowsRead read(std::size_t i) {
        RowsRead made{port_of(task, choice, task.node().inputs[i], kernel)};
        made.scratch = made.port.bf16 ? taken++ : 0;
        return made;
    }
    RowsWritten written() {
        RowsWritten made{output_index(task, 0)};
        made.bf16 = made.index && in_bf16(choice.outputs[*made.index]);
        made.scratch = made.bf16 ? taken++ : 0;
        return made;
    }
    Port port(std::size_t i) { return port_of(task, task.node().input(i), kernel); }
};

// One row of a tensor, in f32.
const float* row_of(const RowsRead& rows, const RowNormalization& w, const Pointers& pointers,
                    std::int64_t row, int part) {
    float* const wide = rows.port.bf16 ? w.scratch(pointers, part, rows.scratch) : nullptr;
    return rows.port.at(pointers, row * w.n, w.n, wide);
}

// Makes one row by f(to) and stores it.
template <class F>
void make_row(const RowsWritten& rows, const RowNormalization& w, const Pointers& pointers, std::int64_t row,
              int part, const F& f) {
    if (!rows.index) return;
    if (!rows.bf16) return f(reinterpret_cast<float*>(pointers.outputs[*rows.index]) + row * w.n);
    float* const made = w.scratch(pointers, part, rows.scratch);
    f(made);
    simd::narrow(made, reinterpret_cast<std::uint16_t*>(pointers.outputs[*rows.index]) + row * w.n, w.n);
}

void make_forward(MakingRows& m) {
    const RowsRead x = m.read(0);
    const RowsWritten y = m.written();
    const Port scale = m.port(1), shift = m.port(2);
    const auto mean = output_index(m.task, 1), inverse = output_index(m.task, 2);
    m.kernel.run = [=, w = m.work](const Pointers& pointers) {
        float *const means = output_at(pointers, mean), *const inverses = output_at(pointers, inverse);
        over_rows(w, [&](std::int64_t row, int part) {
            const float* const from = row_of(x, w, pointers, row, part);
            RowStatistics made;
            make_row(y, w, pointers, row, part, [&](float* to) {
                made = normalize_row(to, from, scale.at(pointers), shift.at(pointers), w.epsilon, w.n);
            });
            if (means != nullptr) means[row] = made.mean;
            if (inverses != nullptr) inverses[row] = made.inverse;
        });
    };
}

void make_input_gradient(MakingRows& m) {
    const RowsRead gradient = m.read(0), input = m.read(1);
    const RowsWritten written = m.written();
    const Port scale = m.port(2), means = m.port(3), inverses = m.port(4);
    m.kernel.run = [=, w = m.work](const Pointers& pointers) {
        over_rows(w, [&](std::int64_t row, int part) {
            const float *const g = row_of(gradient, w, pointers, row, part), *const x =
                                                                                 row_of(input, w, pointers,
                                                                                        row, part);
            const RowStatistics of{means.at(pointers)[row], inverses.at(pointers)[row]};
            make_row(written, w, pointers, row, part,
                     [&](float* to) { differentiate_row(to, g, x, scale.at(pointers), of, w.n); });
        });
    };
}

// Each thread makes some columns, and reads these columns of every row.
void make_scale_gradient(MakingRows& m) {
    const RowsRead gradient = m.read(0), input = m.read(1);
    const Port means = m.port(2), inverses = m.port(3);
    const auto dscale = output_index(m.task, 0), dshift = output_index(m.task, 1);
    m.kernel.run = [=, w = m.work](const Pointers& pointers) {
        const std::int64_t strips = (w.n + column_strip - 1) / column_strip;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            alignas(64) float wide_g[column_strip], wide_x[column_strip];
            for (std::int64_t s = first; s < last; ++s) {
                const std::int64_t at = s * column_strip, width = std::min(column_strip, w.n - at);
                double along[column_strip] = {}, plain[column_strip] = {};
                for (std::int64_t row = 0; row < w.rows; ++row)
                    simd::add_columns(along, plain, gradient.port.at(pointers, row * w.n + at, width, wide_g),
                                      input.port.at(pointers, row * w.n + at, width, wide_x),
                                      means.at(pointers)[row], inverses.at(pointers)[row], width);
                for (std::int64_t i = 0; i < width; ++i) {
                    if (float* to = output_at(pointers, dscale)) to[at + i] = static_cast<float>(along[i]);
                    if (float* to = output_at(pointers, dshift)) to[at + i] = static_cast<float>(plain[i]);
                }
            }
        };
        if (w.rows * w.n < 8192) return work_on(0, strips);
        in_shares(w.threads, strips, work_on);
    };
}

void make_softmax_gradient(MakingRows& m) {
    const RowsRead gradient = m.read(0), result = m.read(1);
    const RowsWritten written = m.written();
    m.kernel.run = [=, w = m.work](const Pointers& pointers) {
        over_rows(w, [&](std::int64_t row, int part) {
            const float *const g = row_of(gradient, w, pointers, row, part), *const y =
                                                                                 row_of(result, w, pointers,
                                                                                        row, part);
            make_row(written, w, pointers, row, part,
                     [&](float* to) { simd::softmax_gradient(to, g, y, w.n); });
        });
    };
}

Result<Kernel> prepare_row_normalization(const Task& task, const plan::Choice& choice) {
    const auto work = row_normalization(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    MakingRows making{task, choice, kernel, *work};
    making.work.scratch_rows = rows_of_scratch(*work, choice);
    kernel.workspace = making.work.workspace();
    switch (work->op) {
        case RowOperator::forward:
            make_forward(making);
            break;
        case RowOperator::input_gradient:
            make_input_gradient(making);
            break;
        case RowOperator::scale_gradient:
            make_scale_gradient(making);
            break;
        case RowOperator::softmax_gradient:
            make_softmax_gradient(making);
            break;
    }
    return kernel;
}

}  // namespace

Family row_normalization_family() {
    return {row_normalization_family_name, offers_row_normalization, prepare_row_normalization};
}

}  // namespace viridian::execute::cpu
