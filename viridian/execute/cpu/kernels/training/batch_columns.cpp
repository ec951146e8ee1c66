// Batch normalisation on nhwc, nChw16c and nChw8c. Threads share parts of the rows, whose number depends on
// the extents alone; statistics of parts are joined in order, so that they do not depend on the threads.
#include <algorithm>

#include "viridian/execute/cpu/kernels/training/batch_normalization.hpp"
#include "viridian/execute/cpu/simd/training/columns.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::int64_t least_rows = 64, most_parts = 16;  // of a part; of one block of channels
constexpr std::int64_t least_shared = 8192;               // elements that several threads share

// How the tensor is cut: `blocks` of channels, each in `parts` of its `rows`.
struct Columns {
    std::int64_t blocks, rows, parts, channels;  // channels with what fills up the last block

    explicit Columns(const BatchNormalization& w)
        : blocks((w.channels + w.block - 1) / w.block),
          rows(w.images * w.inner),
          parts(std::clamp(rows / least_rows, std::int64_t{1}, (most_parts + blocks - 1) / blocks)),
          channels(blocks * w.block) {}
};

// What lies in the workspace: two numbers of each channel for each part, and four of each channel.
struct ColumnMemory {
    double *first, *second;          // [parts, channels]: means and squares, or sums of gradients
    float *centre, *factor, *a, *b;  // [channels]

    ColumnMemory(std::byte* workspace, const Columns& c)
        : first(reinterpret_cast<double*>(workspace)),
          second(first + c.parts * c.channels),
          centre(reinterpret_cast<float*>(second + c.parts * c.channels)),
          factor(centre + c.channels),
          a(factor + c.channels),
          b(a + c.channels) {}
};

// Runs f(offset of the first element, rows) for the stretches of memory that hold the rows [first, last) of a
// block of channels: one for each image, or a single one where the channels are one block.
template <class Function>
void each_stretch(const BatchNormalization& w, const Columns& c, std::int64_t block, std::int64_t first,
                  std::int64_t last, const Function& f) {
    const std::int64_t length = c.blocks == 1 ? c.rows : w.inner;
    while (first < last) {
        const std::int64_t image = first / length, row = first % length;
        const std::int64_t count = std::min(length - row, last - first);
        f(((image * c.blocks + block) * length + row) * w.block, simd::Rows{count, w.block});
        first += count;
    }
}

// Runs f(offset of the first element, rows) for pieces of a stretch, of at most largest_piece floats or one
// row.
template <class Function>
void each_row_piece(std::int64_t at, simd::Rows rows, const Function& f) {
    const std::int64_t most = std::max(std::int64_t{1}, largest_piece / rows.width);
    for (std::int64_t row = 0; row < rows.count; row += most)
        f(at + row * rows.width, simd::Rows{std::min(most, rows.count - row), rows.width});
}

// Runs f(offset, rows, gradient, Relu's result or null) for a stretch, or for pieces of it if a chain
// applies.
template <class Function>
void each_gradient_piece(const BatchNormalization& w, const Pointers& pointers, std::int64_t at,
                         simd::Rows rows, const Function& f) {
    const float* const g = w.input(pointers, 0);
    if (w.chain.empty()) return f(at, rows, g + at, w.operand_at(pointers, at));
    alignas(64) float made[largest_piece], scratch[largest_piece];
    each_row_piece(at, rows, [&](std::int64_t first, simd::Rows piece) {
        w.chain.run(pointers, g + first, made, first, piece.count * piece.width, scratch);
        f(first, piece, static_cast<const float*>(made), static_cast<const float*>(nullptr));
    });
}

// Runs f(block, part) for every part of every block.
template <class Function>
void each_part(const BatchNormalization& w, const Columns& c, int threads, const Function& f) {
    const auto work_on = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) f(i / c.parts, i % c.parts);
    };
    if (c.rows * w.channels < least_shared) return work_on(0, c.blocks * c.parts);
    in_shares(threads, c.blocks * c.parts, work_on);
}

// Joins what the parts counted in the numbers of part 0, with join(part, rows so far, rows of the part).
template <class Join>
void each_later_part(const Columns& c, const Join& join) {
    for (std::int64_t part = 1; part < c.parts; ++part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        join(part * c.channels, first, last - first);
    }
}

// Counts the mean of each channel and the sum of its squared distances from it, in the numbers of part 0.
void count_moments(const BatchNormalization& w, const Columns& c, const ColumnMemory& m, int threads,
                   const float* x) {
    std::fill_n(m.first, 2 * c.parts * c.channels, 0.0);
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t to = part * c.channels + block * w.block;
        std::int64_t before = 0;
        each_stretch(w, c, block, first, last, [&](std::int64_t at, simd::Rows rows) {
            simd::add_column_moments(m.first + to, m.second + to, before, x + at, rows);
            before += rows.count;
        });
    });
    each_later_part(c, [&](std::int64_t at, std::int64_t before, std::int64_t more) {
        simd::join_column_moments(m.first, m.second, before, m.first + at, m.second + at, more, c.channels);
    });
}

void normalize(const BatchNormalization& w, const Columns& c, int threads, const Pointers& pointers) {
    const ColumnMemory m(pointers.workspace, c);
    const float* const x = w.input(pointers, 0);
    const bool given = w.kind == BatchNormalization::Kind::inference;
    if (!given) count_moments(w, c, m, threads, x);
    std::fill_n(m.centre, 3 * c.channels, 0.0F);  // what fills up a block stays 0
    for (std::int64_t i = 0; i < w.channels; ++i) {
        const double inverse = given ? inverse_deviation(w, static_cast<double>(w.input(pointers, 4)[i]))
                                     : set_statistics(w, pointers, i, m.first[i], m.second[i] / w.count());
        m.centre[i] = given ? w.input(pointers, 3)[i] : static_cast<float>(m.first[i]);
        m.factor[i] = static_cast<float>(inverse * static_cast<double>(w.input(pointers, 1)[i]));
        m.a[i] = w.input(pointers, 2)[i];
    }
    float* const y = w.output(pointers, 0);
    if (y == nullptr) return;
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t i = block * w.block;
        const auto write = [&](std::int64_t at, simd::Rows rows) {
            simd::affine_columns(y + at, x + at, m.centre + i, m.factor + i, m.a + i, rows,
                                 w.epilogue(pointers, at));
        };
        if (w.chain.empty()) return each_stretch(w, c, block, first, last, write);
        alignas(64) float scratch[largest_piece];
        each_stretch(w, c, block, first, last, [&](std::int64_t at, simd::Rows rows) {
            each_row_piece(at, rows, [&](std::int64_t from, simd::Rows piece) {
                write(from, piece);
                w.chain.run(pointers, y + from, y + from, from, piece.count * piece.width, scratch);
            });
        });
    });
}

void differentiate(const BatchNormalization& w, const Columns& c, int threads, const Pointers& pointers) {
    const ColumnMemory m(pointers.workspace, c);
    const float* const x = w.input(pointers, 1);
    std::fill_n(m.first, 2 * c.parts * c.channels, 0.0);
    std::fill_n(m.centre, 4 * c.channels, 0.0F);
    std::copy_n(w.input(pointers, 3), w.channels, m.centre);
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t i = block * w.block, to = part * c.channels + i;
        each_stretch(w, c, block, first, last, [&](std::int64_t start, simd::Rows stretch) {
            each_gradient_piece(
                w, pointers, start, stretch,
                [&](std::int64_t at, simd::Rows rows, const float* g, const float* rectified) {
                    simd::add_column_gradients(m.first + to, m.second + to, g, rectified, x + at,
                                               m.centre + i, rows);
                });
        });
    });
    each_later_part(c, [&](std::int64_t at, std::int64_t, std::int64_t) {
        for (std::int64_t i = 0; i < c.channels; ++i) {
            m.first[i] += m.first[at + i];
            m.second[i] += m.second[at + i];
        }
    });
    float *const dx = w.output(pointers, 0), *const dscale = w.output(pointers, 1),
                 *const dbias = w.output(pointers, 2);
    for (std::int64_t i = 0; i < w.channels; ++i) {
        const auto inverse = static_cast<double>(w.input(pointers, 4)[i]);
        const double along = m.second[i] * inverse;
        m.factor[i] = static_cast<float>(inverse * static_cast<double>(w.input(pointers, 2)[i]));
        m.a[i] = static_cast<float>(m.first[i] / w.count());
        m.b[i] = static_cast<float>(inverse * along / w.count());
        if (dscale != nullptr) dscale[i] = static_cast<float>(along);
        if (dbias != nullptr) dbias[i] = static_cast<float>(m.first[i]);
    }
    if (dx == nullptr) return;
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t i = block * w.block;
        const simd::CentredColumns columns{m.factor + i, m.a + i, m.b + i, m.centre + i};
        each_stretch(w, c, block, first, last, [&](std::int64_t start, simd::Rows stretch) {
            each_gradient_piece(
                w, pointers, start, stretch,
                [&](std::int64_t at, simd::Rows rows, const float* g, const float* rectified) {
                    simd::centred_column_gradient(dx + at, g, rectified, x + at, columns, rows);
                });
        });
    });
}

}  // namespace

Bytes columns_workspace(const BatchNormalization& work) {
    const Columns c(work);
    const std::int64_t numbers = 2 * c.parts * c.channels * static_cast<std::int64_t>(sizeof(double));
    return Bytes(numbers + 4 * c.channels * static_cast<std::int64_t>(sizeof(float)));
}

void run_batch_columns(const BatchNormalization& work, int threads, const Pointers& pointers) {
    (work.kind == BatchNormalization::Kind::gradient ? differentiate : normalize)(work, Columns(work),
                                                                                  threads, pointers);
}

}  // namespace viridian::execute::cpu
