// Attention kept in cache: a thread takes one block of queries of one head after the other. Its scores
// against a block of keys stay in the second cache between the two products, which are strips of the
// micro-kernel, and the softmax goes on from block to block (Rabe and Staats 2021; Dao et al. 2022, Algorithm
// 1).
#include <algorithm>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/attention_matrices.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using plan::Layout;
using simd::block;

constexpr std::string_view attention_family_name = "simd:attention";
constexpr std::int64_t attention_rows = 56;   // of a block of queries
constexpr std::int64_t attention_keys = 512;  // of a block of keys
// Pieces of the work for each thread, which takes one after the other.
constexpr std::int64_t attention_pieces = 4;

struct AttentionWork {
    AttentionMatrices q, k, v, result;
    AttentionScores scores;
    std::int64_t heads = 1, rows = 0, keys = 0, size = 0, columns = 0;
    simd::Groups key_groups = {}, column_groups = {};
    std::int64_t row_block = 0, key_block = 0;
    int threads = 1;
    bool in_bf16 = false;  // whether the products multiply in bf16

    [[nodiscard]] std::int64_t row_blocks() const { return parts_of(rows, row_block); }
};

// A thread's scratch, with what is packed in `Entry`.
template <class Entry>
struct AttentionScratch {
    Entry *keys, *values;  // of one head, packed as weights
    Entry* queries;        // of a block, packed as pixels
    float *scores, *result, *sums, *most, *decay;
    Entry* exponentials;  // the scores as pixels; in f32 they are these already

    std::int64_t end = 0;  // bytes

    // With null the pointers are null, and only `end` counts.
    AttentionScratch(const AttentionWork& w, std::byte* first) {
        AttentionScratchTaker from{first};
        keys = from.take<Entry>(w.size * in_blocks(w.keys));
        values = from.take<Entry>(w.keys * in_blocks(w.columns));
        queries = from.take<Entry>(w.row_block * in_blocks(w.size));
        scores = from.take<float>(w.row_block * in_blocks(w.key_block));
        result = from.take<float>(w.row_block * in_blocks(w.columns));
        sums = from.take<float>(w.row_block * block);
        most = from.take<float>(w.row_block);
        decay = from.take<float>(w.row_block);
        if constexpr (std::is_same_v<Entry, float>)
            exponentials = scores;
        else
            exponentials = from.take<Entry>(w.row_block * in_blocks(w.key_block));
        end = from.end;
    }
};

std::int64_t thread_bytes(const AttentionWork& w) {
    return w.in_bf16 ? AttentionScratch<std::uint16_t>(w, nullptr).end
                     : AttentionScratch<float>(w, nullptr).end;
}

// scores = queries · keys, for keys [from, to) of the head; `from` begins a group.
template <class Entry>
void multiply_keys(const AttentionWork& w, const AttentionScratch<Entry>& s, std::int64_t rows,
                   std::int64_t from, std::int64_t to) {
    const std::int64_t group_width = w.key_groups.columns * block;
    for (std::int64_t g = from / group_width; g * group_width < to; ++g) {
        auto strip = attention_strip<Entry>(s.queries, rows, s.keys + w.key_groups.offset(g, w.size * block),
                                            w.key_groups.width(g), w.size);
        strip.result = s.scores + (g * group_width - from) * rows;
        strip.result_block = rows * block;
        simd::run(strip);
    }
}

// result (+)= exponentials · values, for the same keys.
template <class Entry>
void multiply_values(const AttentionWork& w, const AttentionScratch<Entry>& s, std::int64_t rows,
                     std::int64_t from, std::int64_t to) {
    for (std::int64_t g = 0; g < w.column_groups.count(); ++g) {
        const int columns = w.column_groups.width(g);
        auto strip = attention_strip<Entry>(
            s.exponentials, rows,
            s.values + w.column_groups.offset(g, w.keys * block) + from * columns * block, columns,
            to - from);
        float* const result = s.result + g * w.column_groups.columns * block;
        strip.result = result;
        strip.add = from == 0 ? nullptr : result;
        strip.result_pixel = in_blocks(w.columns);
        strip.result_block = block;
        if constexpr (!std::is_same_v<Entry, float>) strip.add_pixel = strip.result_pixel;
        simd::run(strip);
    }
}

// Rows [first, last) of one head, whose keys and values are packed.
template <class Entry>
void attend(const AttentionWork& w, const Pointers& pointers, const AttentionScratch<Entry>& s,
            std::int64_t head, std::int64_t first, std::int64_t last) {
    const std::int64_t rows = last - first;
    const float scale = w.scores.scale_of(pointers, head);
    w.q.view_as<Entry>(pointers, head, first, [&](const auto& queries) {
        pack_attention_pixels(queries, rows, w.size, scale, s.queries);
    });
    for (std::int64_t from = 0; from < w.keys; from += w.key_block) {
        const std::int64_t to = std::min(w.keys, from + w.key_block);
        multiply_keys(w, s, rows, from, to);
        const std::int64_t all = rows * in_blocks(to - from);
        if (w.in_bf16) simd::scale_rows(s.scores, &scale, 1, all);
        simd::ScoreBlock scores;
        scores.scores = s.scores;
        scores.rows = rows, scores.keys = to - from;
        w.scores.add_masks(pointers, head, first, from, scores);
        scores.first = from == 0;
        scores.most = s.most, scores.sums = s.sums, scores.decay = s.decay;
        simd::exponentials(scores);
        simd::drop_scores(s.scores, rows, to - from, w.scores.kept_of(pointers, head, first, from));
        if constexpr (!std::is_same_v<Entry, float>) simd::narrow(s.scores, s.exponentials, all);
        if (from > 0) simd::scale_rows(s.result, s.decay, rows, in_blocks(w.columns));
        multiply_values(w, s, rows, from, to);
    }
    const std::int64_t width = in_blocks(w.columns), at = first * w.result.row;
    const auto divide = [&](float* to, std::int64_t stride) {
        simd::divide_rows(s.result, s.sums, w.scores.kept_scale, rows, width, to, stride, w.columns);
    };
    if (!w.result.bf16) return divide(w.result.to(pointers, head) + at, w.result.row);
    divide(s.result, width);
    for (std::int64_t r = 0; r < rows; ++r)
        simd::narrow(s.result + r * width, w.result.to<std::uint16_t>(pointers, head) + at + r * w.result.row,
                     w.columns);
}

template <class Entry>
void run_attention(const AttentionWork& w, const Pointers& pointers) {
    const std::int64_t bytes = thread_bytes(w);
    const std::int64_t blocks = w.row_blocks(), units = w.heads * blocks;
    const std::int64_t pieces = w.threads == 1 ? 1 : std::min(units, attention_pieces * w.threads);
    in_turn(w.threads, pieces, [&](std::int64_t piece, int part) {
        const AttentionScratch<Entry> s(w, pointers.workspace + part * bytes);
        const auto [begin, end] = share(units, piece, pieces);
        for (std::int64_t unit = begin; unit < end; ++unit) {
            const std::int64_t head = unit / blocks;
            if (unit == begin || unit % blocks == 0) {
                w.k.view_as<Entry>(pointers, head, 0, [&](const auto& k) {
                    pack_attention_weights(k, w.size, w.keys, w.key_groups.columns * block, s.keys);
                });
                w.v.view_as<Entry>(pointers, head, 0, [&](const auto& v) {
                    pack_attention_weights(v, w.keys, w.columns, w.column_groups.columns * block, s.values);
                });
            }
            const std::int64_t first = unit % blocks * w.row_block;
            attend(w, pointers, s, head, first, std::min(w.rows, first + w.row_block));
        }
    });
}

// The orders of memory in which q, k, v and the result lie: as they are written, or, at rank 4, as the
// transposes of an exporter leave [batch, position, head, size] behind.
struct Arrangement {
    Layout q, k, v, result;
};

std::vector<Arrangement> arrangements(const Task& task, const AttentionRegion& attention) {
    const auto rank = [&](ValueId id) { return task.dims(id).size(); };
    const std::size_t most = attention.leading.size() + 2;
    const auto plain = [&](ValueId id) { return plan::plain(rank(id)); };
    const ValueId q = attention.q.value, k = attention.k.value, v = attention.v.value;
    std::vector<Arrangement> list = {{plain(q), plain(k), plain(v), plan::plain(most)}};
    const auto add_both_results = [&](Arrangement arrangement) {
        list.push_back(arrangement);
        if (most != 4) return;
        arrangement.result = plan::permuted({0, 2, 1, 3});
        list.push_back(arrangement);
    };
    const auto is_operand = [&](const auto& other) {
        return other.value == q || other.value == k || other.value == v;
    };
    if (k == v || k == q || std::ranges::any_of(attention.masks, is_operand) ||
        std::ranges::any_of(attention.scales, is_operand))
        return list;
    const auto fixed = [&](ValueId id) { return task.graph.constant(id) != nullptr; };
    if (most == 4) list.push_back({plain(q), plain(k), plain(v), plan::permuted({0, 2, 1, 3})});
    if (!fixed(k)) {
        Layout keys = plain(k);
        std::swap(keys.order[rank(k) - 1], keys.order[rank(k) - 2]);
        add_both_results({plain(q), keys, plain(v), plan::plain(most)});
    }
    const bool by_position =
        rank(q) == 4 && rank(k) == 4 && rank(v) == 4 && !fixed(q) && !fixed(k) && !fixed(v);
    if (by_position)
        add_both_results({plan::permuted({0, 2, 1, 3}), plan::permuted({0, 3, 1, 2}),
                          plan::permuted({0, 2, 1, 3}), plan::plain(4)});
    return list;
}

AttentionWork attention_work(const Task& task, const AttentionRegion& attention, const plan::Choice& choice) {
    Dims result = attention.leading;
    result.insert(result.end(), {attention.rows, attention.columns});
    const auto matrices = [&](const AttentionRegion::Operand& operand) {
        const auto at = task.input_index(operand.value);
        return attention_matrices(
            attention, operand.dims,
            at ? choice.inputs[*at].layout : plan::plain(task.dims(operand.value).size()));
    };
    AttentionWork w{.q = matrices(attention.q),
                    .k = matrices(attention.k),
                    .v = matrices(attention.v),
                    .result = attention_matrices(attention, result, choice.outputs[0].layout),
                    .scores = AttentionScores(attention)};
    w.result.port = {AttentionPort::Where::output, 0};
    w.result.bf16 = in_bf16(choice.outputs[0]);
    w.in_bf16 = attention_multiplies_bf16(task, {attention.q.value, attention.k.value, attention.v.value},
                                          {attention.size, attention.keys}, choice);
    w.heads = attention.heads();
    w.rows = attention.rows, w.keys = attention.keys;
    w.size = attention.size, w.columns = attention.columns;
    const int columns = simd::best_columns();
    w.key_groups = {w.keys, columns}, w.column_groups = {w.columns, columns};
    w.threads = task.context.threads;
    w.row_block = attention_row_block(attention, attention_rows, w.threads);
    const std::int64_t keys = parts_of(w.keys, parts_of(w.keys, attention_keys));
    w.key_block = parts_of(keys, columns * block) * columns * block;
    return w;
}

std::vector<plan::Choice> offers_attention(const Task& task) {
    const auto attention = attention_region(task);
    if (!attention) return {};
    std::vector<plan::Choice> choices;
    for (const Arrangement& arrangement : arrangements(task, *attention)) {
        plan::Choice choice = task.plain_choice(std::string(attention_family_name));
        const auto lies = [&](ValueId id, const Layout& layout) {
            if (const auto at = task.input_index(id)) choice.inputs[*at].layout = layout;
        };
        lies(attention->q.value, arrangement.q);
        lies(attention->k.value, arrangement.k);
        lies(attention->v.value, arrangement.v);
        choice.outputs[0].layout = arrangement.result;
        choices.push_back(std::move(choice));
    }
    offer_attention_in_bf16(task, *attention, {attention->q.value, attention->k.value, attention->v.value},
                            choices);
    for (plan::Choice& choice : choices) {
        const AttentionWork work = attention_work(task, *attention, choice);
        choice.workspace = Bytes(thread_bytes(work) * work.threads);
    }
    return choices;
}

Result<Kernel> prepare_attention(const Task& task, const plan::Choice& choice) {
    const auto attention = attention_region(task);
    if (!attention) return unknown_kernel(choice);
    AttentionWork work = attention_work(task, *attention, choice);
    Kernel kernel;
    find_attention_operand(task, attention->q.value, choice, kernel, work.q);
    find_attention_operand(task, attention->k.value, choice, kernel, work.k);
    find_attention_operand(task, attention->v.value, choice, kernel, work.v);
    find_attention_ports(task, *attention, kernel, work.scores);
    kernel.workspace = Bytes(thread_bytes(work) * work.threads);
    kernel.run = [work = std::move(work)](const Pointers& pointers) {
        (work.in_bf16 ? run_attention<std::uint16_t> : run_attention<float>)(work, pointers);
    };
    return kernel;
}

}  // namespace

Family simd_attention_family() { return {attention_family_name, offers_attention, prepare_attention}; }

}  // namespace viridian::execute::cpu
