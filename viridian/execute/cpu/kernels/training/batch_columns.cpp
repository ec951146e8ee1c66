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

// Runs f(offset of the first element, rows) for a stretch, or for pieces of it if there are steps in a chain
// or tensors in bf16. A piece has at most largest_piece floats.
template <class Function>
void each_piece(const BatchNormalization& w, std::int64_t at, simd::Rows rows, const Function& f) {
    if (w.chain.empty() && !w.in_bf16()) return f(at, rows);
    const std::int64_t most = std::max(std::int64_t{1}, largest_piece / rows.width);
    for (std::int64_t row = 0; row < rows.count; row += most)
        f(at + row * rows.width, simd::Rows{std::min(most, rows.count - row), rows.width});
}

// A Piece has room for what a thread widens to f32 and makes in f32.
struct Piece {
    alignas(64) float x[largest_piece], gradient[largest_piece], operand[largest_piece], made[largest_piece],
        scratch[largest_piece];
};

// Sets elements [at, at + n) of output 0 by make(where), and rounds them if they are stored in bf16.
template <class Make>
void write_result(const BatchNormalization& w, const Pointers& pointers, std::int64_t at, std::int64_t n,
                  Piece& piece, const Make& make) {
    if (!w.rounds_result) return make(w.output(pointers, 0) + at);
    make(piece.made);
    simd::narrow(piece.made, reinterpret_cast<std::uint16_t*>(w.output(pointers, 0)) + at, n);
}

// Runs f(offset, rows, gradient, Relu's result or null, x) for the pieces of a stretch.
template <class Function>
void each_gradient_piece(const BatchNormalization& w, const Pointers& pointers, std::int64_t start,
                         simd::Rows stretch, Piece& piece, const Function& f) {
    each_piece(w, start, stretch, [&](std::int64_t at, simd::Rows rows) {
        const std::int64_t n = rows.elements();
        const float* g = w.inputs[0].at(pointers, at, n, piece.gradient);
        if (!w.chain.empty()) {
            w.chain.run(pointers, g, piece.gradient, at, n, piece.scratch);
            g = piece.gradient;
        }
        f(at, rows, g, w.operand.at(pointers, at, n, piece.operand),
          w.inputs[1].at(pointers, at, n, piece.x));
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
                   const Pointers& pointers) {
    const Port& x = w.inputs[0];
    std::fill_n(m.first, 2 * c.parts * c.channels, 0.0);
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t to = part * c.channels + block * w.block;
        std::int64_t before = 0;
        alignas(64) float wide[largest_piece];
        const auto add = [&](std::int64_t at, simd::Rows rows) {
            simd::add_column_moments(m.first + to, m.second + to, before,
                                     x.at(pointers, at, rows.elements(), wide), rows);
            before += rows.count;
        };
        each_stretch(w, c, block, first, last, [&](std::int64_t at, simd::Rows rows) {
            if (x.bf16)
                each_piece(w, at, rows, add);
            else
                add(at, rows);
        });
    });
    each_later_part(c, [&](std::int64_t at, std::int64_t before, std::int64_t more) {
        simd::join_column_moments(m.first, m.second, before, m.first + at, m.second + at, more, c.channels);
    });
}

void normalize(const BatchNormalization& w, const Columns& c, int threads, const Pointers& pointers) {
    const ColumnMemory m(pointers.workspace, c);
    const bool given = w.kind == BatchNormalization::Kind::inference;
    if (!given) count_moments(w, c, m, threads, pointers);
    std::fill_n(m.centre, 3 * c.channels, 0.0F);  // what fills up a block stays 0
    for (std::int64_t i = 0; i < w.channels; ++i) {
        const double inverse = given ? inverse_deviation(w, static_cast<double>(w.input(pointers, 4)[i]))
                                     : set_statistics(w, pointers, i, m.first[i], m.second[i] / w.count());
        m.centre[i] = given ? w.input(pointers, 3)[i] : static_cast<float>(m.first[i]);
        m.factor[i] = static_cast<float>(inverse * static_cast<double>(w.input(pointers, 1)[i]));
        m.a[i] = w.input(pointers, 2)[i];
    }
    if (w.output(pointers, 0) == nullptr) return;
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t i = block * w.block;
        Piece piece;
        const auto write = [&](std::int64_t at, simd::Rows rows) {
            const std::int64_t n = rows.elements();
            write_result(w, pointers, at, n, piece, [&](float* to) {
                simd::affine_columns(to, w.inputs[0].at(pointers, at, n, piece.x), m.centre + i, m.factor + i,
                                     m.a + i, rows, w.epilogue(pointers, at, n, piece.operand));
                if (!w.chain.empty()) w.chain.run(pointers, to, to, at, n, piece.scratch);
            });
        };
        each_stretch(w, c, block, first, last,
                     [&](std::int64_t at, simd::Rows rows) { each_piece(w, at, rows, write); });
    });
}

void differentiate(const BatchNormalization& w, const Columns& c, int threads, const Pointers& pointers) {
    const ColumnMemory m(pointers.workspace, c);
    std::fill_n(m.first, 2 * c.parts * c.channels, 0.0);
    std::fill_n(m.centre, 4 * c.channels, 0.0F);
    std::copy_n(w.input(pointers, 3), w.channels, m.centre);
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t i = block * w.block, to = part * c.channels + i;
        Piece piece;
        each_stretch(w, c, block, first, last, [&](std::int64_t start, simd::Rows stretch) {
            each_gradient_piece(
                w, pointers, start, stretch, piece,
                [&](std::int64_t, simd::Rows rows, const float* g, const float* rectified, const float* x) {
                    simd::add_column_gradients(m.first + to, m.second + to, g, rectified, x, m.centre + i,
                                               rows);
                });
        });
    });
    each_later_part(c, [&](std::int64_t at, std::int64_t, std::int64_t) {
        for (std::int64_t i = 0; i < c.channels; ++i) {
            m.first[i] += m.first[at + i];
            m.second[i] += m.second[at + i];
        }
    });
    float *const dscale = w.output(pointers, 1), *const dbias = w.output(pointers, 2);
    for (std::int64_t i = 0; i < w.channels; ++i) {
        const auto inverse = static_cast<double>(w.input(pointers, 4)[i]);
        const double along = m.second[i] * inverse;
        m.factor[i] = static_cast<float>(inverse * static_cast<double>(w.input(pointers, 2)[i]));
        m.a[i] = static_cast<float>(m.first[i] / w.count());
        m.b[i] = static_cast<float>(inverse * along / w.count());
        if (dscale != nullptr) dscale[i] = static_cast<float>(along);
        if (dbias != nullptr) dbias[i] = static_cast<float>(m.first[i]);
    }
    if (w.output(pointers, 0) == nullptr) return;
    each_part(w, c, threads, [&](std::int64_t block, std::int64_t part) {
        const auto [first, last] = share(c.rows, part, c.parts);
        const std::int64_t i = block * w.block;
        const simd::CentredColumns columns{m.factor + i, m.a + i, m.b + i, m.centre + i};
        Piece piece;
        each_stretch(w, c, block, first, last, [&](std::int64_t start, simd::Rows stretch) {
            each_gradient_piece(w, pointers, start, stretch, piece,
                                [&](std::int64_t at, simd::Rows rows, const float* g, const float* rectified,
                                    const float* x) {
                                    write_result(w, pointers, at, rows.elements(), piece, [&](float* to) {
                                        simd::centred_column_gradient(to, g, rectified, x, columns, rows);
                                    });
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
