// The gradient of attention, kept in cache. A thread takes one head after the other. For a block of queries
// it makes the probabilities again and their gradient, against all keys, and multiplies both at once:
//
//   p = Softmax(hide(q·k·scale + masks)), m = kept · kept_scale       dv += (p · m)ᵀ·dy
//   g = (dy·vᵀ) · m, ds = scale · p · (g − Σ g · p)             dq = ds·kᵀ, dk += qᵀ·ds
//
// If no score is hidden, the sums of ds and of dk over the keys are 0, so a bias added to every key has no
// gradient. ds and dk are rounded to bf16 with error feedback, which nearly keeps these sums.
//
// No matrix of scores leaves the caches, and none is kept between the forward and the backward part (Dao et
// al. 2022, section 3.1 and appendix B; without their saved statistics, because all keys are there at once).
#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/attention_matrices.hpp"
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/bf16/scores.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using plan::Layout;
using simd::block;

constexpr std::string_view gradient_family_name = "simd:attention_gradient";
constexpr std::int64_t gradient_rows = 56;       // of a block of queries, at most
constexpr std::int64_t gradient_scores = 65536;  // of a block of queries against all keys, if rows allow

struct GradientWork {
    AttentionMatrices q, k, v, dy, dq, dk, dv;
    AttentionScores scores;
    std::int64_t heads = 1, rows = 0, keys = 0, size = 0, columns = 0;
    simd::Groups key_groups, size_groups;
    std::int64_t row_block = 0;
    int threads = 1;
    bool in_bf16 = false;  // whether the products multiply in bf16

    [[nodiscard]] std::int64_t padded_keys() const { return in_blocks(keys); }
    [[nodiscard]] std::int64_t row_parts() const { return in_blocks(row_block); }
};

// The parts of a thread's scratch, with what is packed in `Entry`.
template <class Entry>
class GradientScratch {
    static constexpr bool is_f32 = std::is_same_v<Entry, float>;

  public:
    // With null the pointers are null, and only `end` counts.
    GradientScratch(const GradientWork& w, std::byte* first) {
        AttentionScratchTaker from{first};
        const std::int64_t all_scores = w.row_block * w.padded_keys();
        keys = from.take<Entry>(w.size * w.padded_keys());
        values = from.take<Entry>(w.columns * w.padded_keys());
        turned_keys = from.take<Entry>(w.keys * in_blocks(w.size));
        queries = from.take<Entry>(w.row_block * in_blocks(w.size));
        results = from.take<Entry>(w.row_block * in_blocks(w.columns));
        turned_queries = from.take<Entry>(w.row_parts() * w.size);
        turned_results = from.take<Entry>(w.row_parts() * w.columns);
        weights = from.take<float>(all_scores);
        gradient = from.take<float>(all_scores);
        if constexpr (is_f32) {
            weights_over_rows = weights, gradient_over_rows = gradient_pixels = gradient;
        } else {
            weights_over_rows = from.take<Entry>(all_scores);
            gradient_over_rows = from.take<Entry>(all_scores);
            gradient_pixels = from.take<Entry>(all_scores);
        }
        key_sums = from.take<float>(w.size * w.padded_keys());
        value_sums = from.take<float>(w.columns * w.padded_keys());
        rounded = from.take<float>(w.dq.bf16 ? w.row_block * in_blocks(w.size) : 0);
        sums = from.take<float>(w.row_block * block);
        most = from.take<float>(w.row_parts());
        decay = from.take<float>(w.row_parts());
        end = from.end;
    }
    Entry *keys, *values;                    // of one head: k and vᵀ as weights of strips
    Entry* turned_keys;                      // kᵀ as weights
    Entry *queries, *results;                // of a block of queries: q (in f32 · scale) and dy as pixels
    Entry *turned_queries, *turned_results;  // qᵀ and dyᵀ as pixels
    float *weights, *gradient;  // [block of 16 keys][row][16]: probabilities, and gradients of scores
    // Both once more as weights of sums over rows, and the gradients as pixels. In f32 `weights` and
    // `gradient` are these already.
    Entry *weights_over_rows, *gradient_over_rows, *gradient_pixels;
    float *key_sums, *value_sums;  // [block of 16 keys][size or columns][16]: dk, and the transpose of dv
    float* rounded;                // dq of a block of queries, before it is rounded
    float *sums, *most, *decay;    // of rows
    std::int64_t end = 0;          // how many bytes these are
};

std::int64_t thread_bytes_of(const GradientWork& w) {
    return w.in_bf16 ? GradientScratch<std::uint16_t>(w, nullptr).end
                     : GradientScratch<float>(w, nullptr).end;
}

template <class View>
View turned(const View& m) {
    return {m.first, m.column, m.row};
}

// to[block of 16 keys][row][16] = pixels · weights, for all keys.
template <class Entry>
void multiply_by_keys(const GradientWork& w, std::int64_t rows, const Entry* pixels, std::int64_t channels,
                      const Entry* weights, float* to) {
    for (std::int64_t g = 0; g < w.key_groups.count(); ++g) {
        auto strip = attention_strip(pixels, rows, weights + w.key_groups.offset(g, channels * block),
                                     w.key_groups.width(g), channels);
        strip.result = to + w.key_groups.offset(g, rows * block);
        strip.result_block = rows * block;
        simd::run(strip);
    }
}

// dq = gradients of scores · kᵀ, for `rows` queries from `first` on.
template <class Entry>
void multiply_by_turned_keys(const GradientWork& w, const GradientScratch<Entry>& s, std::int64_t rows,
                             float* to, std::int64_t stride) {
    for (std::int64_t g = 0; g < w.size_groups.count(); ++g) {
        auto strip = attention_strip<Entry>(s.gradient_pixels, rows,
                                            s.turned_keys + w.size_groups.offset(g, w.keys * block),
                                            w.size_groups.width(g), w.keys);
        strip.result = to + g * w.size_groups.columns * block;
        strip.result_pixel = stride;
        strip.result_block = block;
        const std::int64_t left = w.size - g * w.size_groups.columns * block;
        strip.last_width = std::min(block, left - (strip.columns - 1) * block);
        simd::run(strip);
    }
}

// sums[block of 16 keys][count][16] (+)= pixels · scores, where `pixels` are a turned matrix of `rows`
// channels. Scores in f32 lie in blocks of 16 keys as they were made, those in bf16 in groups of blocks.
template <class Entry>
void add_over_rows(const GradientWork& w, std::int64_t rows, const Entry* pixels, std::int64_t count,
                   const Entry* scores, bool first, float* sums) {
    const simd::Groups groups{w.keys, std::is_same_v<Entry, float> ? 1 : w.key_groups.columns};
    for (std::int64_t g = 0; g < groups.count(); ++g) {
        auto strip =
            attention_strip(pixels, count, scores + groups.offset(g, rows * block), groups.width(g), rows);
        float* const to = sums + groups.offset(g, count * block);
        strip.result = to;
        strip.result_block = count * block;
        strip.add = first ? nullptr : to;
        simd::run(strip);
    }
}

// Writes sums[block of 16 keys][count][16] as a matrix of `count` rows and of a column for each key.
template <class Entry>
void write_sums(const GradientWork& w, const float* sums, std::int64_t count, Entry* to, std::int64_t row,
                std::int64_t column) {
    for (std::int64_t at = 0; at < w.keys; at += block, sums += count * block) {
        const std::int64_t part = std::min(block, w.keys - at);
        if (column == 1) {
            for (std::int64_t i = 0; i < count; ++i) simd::store(sums + i * block, to + i * row + at, part);
            continue;
        }
        for (std::int64_t j = 0; j < part; ++j)
            for (std::int64_t i = 0; i < count; i += block) {  // the rows are contiguous
                float line[block];
                const std::int64_t n = std::min(block, count - i);
                for (std::int64_t e = 0; e < n; ++e) line[e] = sums[(i + e) * block + j];
                simd::store(line, to + i + (at + j) * column, n);
            }
    }
}

// Writes dk or dv of one head; the rows of the matrix are the columns of `sums` if it is `turned`.
void write_sums(const GradientWork& w, const Pointers& pointers, std::int64_t head,
                const AttentionMatrices& matrices, const float* sums, std::int64_t count, bool is_turned) {
    const std::int64_t row = is_turned ? matrices.column : matrices.row,
                       column = is_turned ? matrices.row : matrices.column;
    if (matrices.bf16)
        write_sums(w, sums, count, matrices.to<std::uint16_t>(pointers, head), row, column);
    else
        write_sums(w, sums, count, matrices.to(pointers, head), row, column);
}

// Packs the transpose of rows as pixels.
template <class View>
void pack_turned(const View& rows_of, std::int64_t rows, std::int64_t count, float* to) {
    simd::pack_panels(turned(rows_of), count, rows, block, to);
}
void pack_turned(const simd::Bf16View& rows_of, std::int64_t rows, std::int64_t count, std::uint16_t* to) {
    simd::pack_pair_pixels(turned(rows_of), count, rows, block, to);
}

// Queries [first, last) of one head, whose keys and values are packed.
template <class Entry>
void differentiate(const GradientWork& w, const Pointers& pointers, const GradientScratch<Entry>& s,
                   std::int64_t head, std::int64_t first, std::int64_t last) {
    const std::int64_t rows = last - first;
    const float scale = w.scores.scale_of(pointers, head);
    w.q.view_as<Entry>(pointers, head, first, [&](const auto& queries) {
        pack_attention_pixels(queries, rows, w.size, scale, s.queries);
        pack_turned(queries, rows, w.size, s.turned_queries);
    });
    w.dy.view_as<Entry>(pointers, head, first, [&](const auto& results) {
        pack_attention_pixels(results, rows, w.columns, 1, s.results);
        pack_turned(results, rows, w.columns, s.turned_results);
    });

    multiply_by_keys<Entry>(w, rows, s.queries, w.size, s.keys, s.weights);
    if (w.in_bf16) simd::scale_rows(s.weights, &scale, 1, rows * w.padded_keys());
    simd::ScoreBlock scores;
    scores.scores = s.weights;
    scores.rows = rows, scores.keys = w.keys;
    w.scores.add_masks(pointers, head, first, 0, scores);
    scores.most = s.most, scores.sums = s.sums, scores.decay = s.decay;
    simd::exponentials(scores);

    multiply_by_keys<Entry>(w, rows, s.results, w.columns, s.values, s.gradient);
    simd::ScoreGradient both;
    both.weights = s.weights, both.gradient = s.gradient;
    both.rows = rows, both.keys = w.keys;
    both.sums = s.sums;
    both.kept = w.scores.kept_of(pointers, head, first, 0);
    both.hidden = w.scores.hidden_of(pointers, head, first, 0);
    both.kept_scale = w.scores.kept_scale, both.scale = scale;
    simd::differentiate_scores(both);
    if constexpr (!std::is_same_v<Entry, float>) {
        simd::narrow_scores({s.weights, rows, w.key_groups, false, s.weights_over_rows, nullptr});
        simd::narrow_scores({s.gradient, rows, w.key_groups, true, s.gradient_over_rows, s.gradient_pixels});
    }

    const std::int64_t at = first * w.dq.row, width = in_blocks(w.size);
    if (w.dq.bf16) {
        multiply_by_turned_keys(w, s, rows, s.rounded, width);
        for (std::int64_t r = 0; r < rows; ++r)
            simd::narrow(s.rounded + r * width, w.dq.to<std::uint16_t>(pointers, head) + at + r * w.dq.row,
                         w.size);
    } else {
        multiply_by_turned_keys(w, s, rows, w.dq.to(pointers, head) + at, w.dq.row);
    }
    add_over_rows<Entry>(w, rows, s.turned_queries, w.size, s.gradient_over_rows, first == 0, s.key_sums);
    add_over_rows<Entry>(w, rows, s.turned_results, w.columns, s.weights_over_rows, first == 0, s.value_sums);
}

template <class Entry>
void run_gradient(const GradientWork& w, const Pointers& pointers) {
    const std::int64_t bytes = thread_bytes_of(w);
    in_turn(w.threads, w.heads, [&](std::int64_t head, int part) {
        const GradientScratch<Entry> s(w, pointers.workspace + part * bytes);
        const std::int64_t width = w.key_groups.columns * block;
        w.k.view_as<Entry>(pointers, head, 0, [&](const auto& k) {
            pack_attention_weights(k, w.size, w.keys, width, s.keys);
            pack_attention_weights(turned(k), w.keys, w.size, w.size_groups.columns * block, s.turned_keys);
        });
        w.v.view_as<Entry>(pointers, head, 0, [&](const auto& v) {
            pack_attention_weights(turned(v), w.columns, w.keys, width, s.values);
        });
        for (std::int64_t first = 0; first < w.rows; first += w.row_block)
            differentiate(w, pointers, s, head, first, std::min(w.rows, first + w.row_block));
        if (w.dk.bf16) simd::round_rows(s.key_sums, w.size, w.padded_keys() / block);
        write_sums(w, pointers, head, w.dk, s.key_sums, w.size, false);
        write_sums(w, pointers, head, w.dv, s.value_sums, w.columns, true);
    });
}

// The orders of memory of the operands: as they are written, or as the transposes of a model leave
// [batch, position, head, size] behind. k is [heads, size, keys], the others have positions before sizes.
struct GradientOrders {
    bool by_position = false, turned_keys = false;
    [[nodiscard]] Layout of(std::size_t rank, bool is_keys) const {
        if (by_position) return is_keys ? plan::permuted({0, 3, 1, 2}) : plan::permuted({0, 2, 1, 3});
        Layout layout = plan::plain(rank);
        if (is_keys && turned_keys) std::swap(layout.order[rank - 1], layout.order[rank - 2]);
        return layout;
    }
};

GradientOrders orders_of(const plan::Choice& choice, std::size_t rank) {
    const bool by_position = choice.outputs[0].layout != plan::plain(rank);
    return {by_position, !by_position && choice.outputs[1].layout != plan::plain(rank)};
}

GradientWork gradient_work(const Task& task, const AttentionRegion& attention, const GradientOrders& orders,
                           const plan::Choice& choice) {
    const std::size_t rank = attention.leading.size() + 2;
    const auto matrices = [&](const Dims& dims, bool is_keys, ValueId value) {
        return attention_matrices(attention, dims, orders.of(task.dims(value).size(), is_keys));
    };
    const auto whole = [&](std::int64_t rows, std::int64_t columns) {
        Dims dims = attention.leading;
        dims.insert(dims.end(), {rows, columns});
        return dims;
    };
    const auto result = [&](std::int64_t rows, std::int64_t columns, bool is_keys, std::size_t index) {
        AttentionMatrices made =
            attention_matrices(attention, whole(rows, columns), orders.of(rank, is_keys));
        made.port = {AttentionPort::Where::output, index};
        made.bf16 = in_bf16(choice.outputs[index]);
        return made;
    };
    const int columns = simd::best_columns();
    GradientWork w{
        .q = matrices(attention.q.dims, false, attention.q.value),
        .k = matrices(attention.k.dims, true, attention.k.value),
        .v = matrices(attention.v.dims, false, attention.v.value),
        .dy = matrices(attention.dy.dims, false, attention.dy.value),
        .dq = result(attention.rows, attention.size, false, 0),
        .dk = result(attention.size, attention.keys, true, 1),
        .dv = result(attention.keys, attention.columns, false, 2),
        .scores = AttentionScores(attention),
        .heads = attention.heads(),
        .rows = attention.rows,
        .keys = attention.keys,
        .size = attention.size,
        .columns = attention.columns,
        .key_groups = {attention.keys, columns},
        .size_groups = {attention.size, columns},
        .threads = static_cast<int>(std::min<std::int64_t>(task.context.threads, attention.heads()))};
    w.in_bf16 = attention_multiplies_bf16(
        task, {attention.q.value, attention.k.value, attention.v.value, attention.dy.value},
        {attention.rows, attention.keys, attention.size, attention.columns}, choice);
    // Sums over rows are added block by block, so the size of a block must not depend on the number of
    // threads, which share heads, not blocks.
    w.row_block = attention_row_block(
        attention, std::min(gradient_rows, std::max<std::int64_t>(1, gradient_scores / w.padded_keys())), 1);
    return w;
}

std::vector<plan::Choice> offers_attention_gradient(const Task& task) {
    const auto attention = attention_gradient(task);
    if (!attention) return {};
    const std::size_t rank = attention->leading.size() + 2;
    std::vector<GradientOrders> all = {GradientOrders(), {false, true}};
    if (rank == 4) all.push_back({true, false});
    const ValueId q = attention->q.value, k = attention->k.value, v = attention->v.value,
                  dy = attention->dy.value;
    const auto rearranges = [&](ValueId id, std::size_t least) {
        return task.input_index(id) && task.dims(id).size() >= least;
    };
    const auto is_operand = [&](const auto& mask) {  // which would lie in two orders
        return mask.value == q || mask.value == k || mask.value == v || mask.value == dy;
    };
    std::vector<plan::Choice> choices;
    for (const GradientOrders& orders : all) {
        const bool plain = !orders.by_position && !orders.turned_keys;
        if (!plain && std::ranges::any_of(attention->masks, is_operand)) continue;
        if (!plain && (!rearranges(k, orders.by_position ? 4 : 2) || k == q || k == v || k == dy)) continue;
        if (orders.by_position && !(rearranges(q, 4) && rearranges(v, 4) && rearranges(dy, 4))) continue;
        plan::Choice choice = task.plain_choice(std::string(gradient_family_name));
        for (const ValueId id : {q, k, v, dy})
            if (const auto at = task.input_index(id))
                choice.inputs[*at].layout = orders.of(task.dims(id).size(), id == k);
        for (std::size_t i = 0; i < 3; ++i) choice.outputs[i].layout = orders.of(rank, i == 1);
        choices.push_back(std::move(choice));
    }
    offer_attention_in_bf16(task, *attention, {q, k, v, dy}, choices);
    for (plan::Choice& choice : choices) {
        const GradientWork work = gradient_work(task, *attention, orders_of(choice, rank), choice);
        choice.workspace = Bytes(thread_bytes_of(work) * work.threads);
    }
    return choices;
}

Result<Kernel> prepare_attention_gradient(const Task& task, const plan::Choice& choice) {
    const auto attention = attention_gradient(task);
    if (!attention) return unknown_kernel(choice);
    const std::size_t rank = attention->leading.size() + 2;
    GradientWork work = gradient_work(task, *attention, orders_of(choice, rank), choice);
    Kernel kernel;
    find_attention_operand(task, attention->q.value, choice, kernel, work.q);
    find_attention_operand(task, attention->k.value, choice, kernel, work.k);
    find_attention_operand(task, attention->v.value, choice, kernel, work.v);
    find_attention_operand(task, attention->dy.value, choice, kernel, work.dy);
    find_attention_ports(task, *attention, kernel, work.scores);
    kernel.workspace = Bytes(thread_bytes_of(work) * work.threads);
    kernel.run = [work = std::move(work)](const Pointers& pointers) {
        (work.in_bf16 ? run_gradient<std::uint16_t> : run_gradient<float>)(work, pointers);
    };
    return kernel;
}

}  // namespace

Family simd_attention_gradient_family() {
    return {gradient_family_name, offers_attention_gradient, prepare_attention_gradient};
}

}  // namespace viridian::execute::cpu
