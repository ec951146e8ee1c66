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

struct AttentionWork {
    AttentionMatrices q, k, v, result;
    AttentionScores scores;
    std::int64_t heads = 1, rows = 0, keys = 0, size = 0, columns = 0;
    simd::Groups key_groups = {}, column_groups = {};
    std::int64_t row_block = 0, key_block = 0;
    int threads = 1;

    [[nodiscard]] std::int64_t row_blocks() const { return parts_of(rows, row_block); }
    // Floats of a thread's scratch, one part after the other.
    [[nodiscard]] std::int64_t key_floats() const { return size * in_blocks(keys); }
    [[nodiscard]] std::int64_t value_floats() const { return keys * in_blocks(columns); }
    [[nodiscard]] std::int64_t query_floats() const { return row_block * in_blocks(size); }
    [[nodiscard]] std::int64_t score_floats() const { return row_block * in_blocks(key_block); }
    [[nodiscard]] std::int64_t result_floats() const { return row_block * in_blocks(columns); }
    [[nodiscard]] std::int64_t row_floats() const { return row_block * block + 2 * in_blocks(row_block); }
    [[nodiscard]] std::int64_t thread_floats() const {
        return key_floats() + value_floats() + query_floats() + score_floats() + result_floats() +
               row_floats();
    }
};

// A thread's scratch.
struct AttentionScratch {
    float *keys, *values;  // of one head, packed as weights
    float *queries, *scores, *result, *sums, *most, *decay;

    AttentionScratch(const AttentionWork& w, float* first)
        : keys(first),
          values(keys + w.key_floats()),
          queries(values + w.value_floats()),
          scores(queries + w.query_floats()),
          result(scores + w.score_floats()),
          sums(result + w.result_floats()),
          most(sums + w.row_block * block),
          decay(most + in_blocks(w.row_block)) {}
};

constexpr std::int64_t no_tap_offset = 0;

// scores = queries · keys, for keys [from, to) of the head; `from` begins a group.
void multiply_keys(const AttentionWork& w, const AttentionScratch& s, std::int64_t rows, std::int64_t from,
                   std::int64_t to) {
    const std::int64_t group_width = w.key_groups.columns * block;
    for (std::int64_t g = from / group_width; g * group_width < to; ++g) {
        simd::Strip strip;
        strip.pixels = rows;
        strip.columns = w.key_groups.width(g);
        strip.source = s.queries;
        strip.source_block = rows * block;
        strip.taps = &no_tap_offset;
        strip.channels = w.size;
        strip.weights = s.keys + w.key_groups.offset(g, w.size * block);
        strip.result = s.scores + (g * group_width - from) * rows;
        strip.result_block = rows * block;
        simd::run(strip);
    }
}

// result (+)= exponentials · values, for the same keys.
void multiply_values(const AttentionWork& w, const AttentionScratch& s, std::int64_t rows, std::int64_t from,
                     std::int64_t to) {
    for (std::int64_t g = 0; g < w.column_groups.count(); ++g) {
        simd::Strip strip;
        strip.pixels = rows;
        strip.columns = w.column_groups.width(g);
        strip.source = s.scores;
        strip.source_block = rows * block;
        strip.taps = &no_tap_offset;
        strip.channels = to - from;
        strip.weights = s.values + w.column_groups.offset(g, w.keys * block) + from * strip.columns * block;
        strip.result = s.result + g * w.column_groups.columns * block;
        strip.add = from == 0 ? nullptr : strip.result;
        strip.result_pixel = in_blocks(w.columns);
        strip.result_block = block;
        simd::run(strip);
    }
}

// Rows [first, last) of one head, whose keys and values are packed.
void attend(const AttentionWork& w, const Pointers& pointers, const AttentionScratch& s, std::int64_t head,
            std::int64_t first, std::int64_t last) {
    const std::int64_t rows = last - first;
    w.q.view(pointers, head, first, [&](const auto& queries) {
        simd::pack_pixels(queries, rows, w.size, w.scores.scale_of(pointers, head), s.queries);
    });
    for (std::int64_t from = 0; from < w.keys; from += w.key_block) {
        const std::int64_t to = std::min(w.keys, from + w.key_block);
        multiply_keys(w, s, rows, from, to);
        simd::ScoreBlock scores;
        scores.scores = s.scores;
        scores.rows = rows, scores.keys = to - from;
        w.scores.add_masks(pointers, head, first, from, scores);
        scores.first = from == 0;
        scores.most = s.most, scores.sums = s.sums, scores.decay = s.decay;
        simd::exponentials(scores);
        simd::drop_scores(s.scores, rows, to - from, w.scores.kept_of(pointers, head, first, from));
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

void run_attention(const AttentionWork& w, const Pointers& pointers) {
    parallel(w.threads, [&](int thread) {
        const AttentionScratch s(w,
                                 reinterpret_cast<float*>(pointers.workspace) + thread * w.thread_floats());
        const std::int64_t blocks = w.row_blocks();
        const auto [begin, end] = share(w.heads * blocks, thread, w.threads);
        for (std::int64_t unit = begin; unit < end; ++unit) {
            const std::int64_t head = unit / blocks;
            if (unit == begin || unit % blocks == 0) {
                w.k.view(pointers, head, 0, [&](const auto& k) {
                    simd::pack_panels(k, w.size, w.keys, w.key_groups.columns * block, s.keys);
                });
                w.v.view(pointers, head, 0, [&](const auto& v) {
                    simd::pack_panels(v, w.keys, w.columns, w.column_groups.columns * block, s.values);
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

AttentionWork attention_work(const Task& task, const AttentionRegion& attention,
                             const Arrangement& arrangement) {
    Dims result = attention.leading;
    result.insert(result.end(), {attention.rows, attention.columns});
    AttentionWork w{.q = attention_matrices(attention, attention.q.dims, arrangement.q),
                    .k = attention_matrices(attention, attention.k.dims, arrangement.k),
                    .v = attention_matrices(attention, attention.v.dims, arrangement.v),
                    .result = attention_matrices(attention, result, arrangement.result),
                    .scores = AttentionScores(attention)};
    w.result.port = {AttentionPort::Where::output, 0};
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
        const AttentionWork work = attention_work(task, *attention, arrangement);
        choice.workspace = Bytes(work.thread_floats() * work.threads * 4);
        choices.push_back(std::move(choice));
    }
    offer_attention_in_bf16(task, *attention, {attention->q.value, attention->k.value, attention->v.value},
                            choices);
    return choices;
}

Result<Kernel> prepare_attention(const Task& task, const plan::Choice& choice) {
    const auto attention = attention_region(task);
    if (!attention) return unknown_kernel(choice);
    const auto layout = [&](ValueId id) {
        const auto at = task.input_index(id);
        return at ? choice.inputs[*at].layout : plan::plain(task.dims(id).size());
    };
    AttentionWork work = attention_work(task, *attention,
                                        {layout(attention->q.value), layout(attention->k.value),
                                         layout(attention->v.value), choice.outputs[0].layout});
    Kernel kernel;
    work.result.bf16 = in_bf16(choice.outputs[0]);
    find_attention_operand(task, attention->q.value, choice, kernel, work.q);
    find_attention_operand(task, attention->k.value, choice, kernel, work.k);
    find_attention_operand(task, attention->v.value, choice, kernel, work.v);
    find_attention_ports(task, *attention, kernel, work.scores);
    kernel.workspace = Bytes(work.thread_floats() * work.threads * 4);
    kernel.run = [work = std::move(work)](const Pointers& pointers) { run_attention(work, pointers); };
    return kernel;
}

}  // namespace

Family simd_attention_family() { return {attention_family_name, offers_attention, prepare_attention}; }

}  // namespace viridian::execute::cpu
