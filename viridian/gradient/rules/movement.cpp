// Elements that move: the gradient moves back, and copies are added up.
#include <algorithm>
#include <limits>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

Dims first_axes(std::size_t count) {
    Dims axes(count);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

// --- other dimensions, other orders

Terms reshaped_back(Site& s) { return {like(s.g(), s.x(0))}; }

void reshape_instance(Instance& i) {
    const std::int64_t a = i.extent(1, 4), b = i.extent(1, 4), c = i.extent(1, 3);
    const Dims to = i.pick<Dims>({{a * b, c}, {a, -1}, {0, 0, -1}, {c, b, a}, {1, a * b * c, 1}});
    i.apply(op::Reshape, {i.input({a, b, c}), i.b.integers(to)});
}

void flatten_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 4);
    i.apply(op::Flatten, {i.input(i.extents(rank))},
            i.coin() ? Attributes() : Attributes{{"axis", i.extent(-rank, rank)}});
}

void squeeze_instance(Instance& i) {
    const std::int64_t a = i.extent(1, 4), b = i.extent(1, 4);
    const Term x = i.input({1, a, 1, b});
    const Terms inputs = i.coin() ? Terms{x} : Terms{x, i.b.integers(i.coin() ? Dims{0, -2} : Dims{2})};
    i.apply(op::Squeeze, inputs);
}

Terms transpose_rule(Site& s) {
    Dims order = first_axes(s.dims(s.x()).size());
    std::ranges::reverse(order);
    order = s.node().get("perm", order);
    Dims back(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
        back[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
    return {transpose(s.g(), back)};
}

// --- parts

Terms concat_rule(Site& s) {
    const std::int64_t axis = Site::axis(s.integer("axis", 0), s.rank(s.y()));
    Terms gradients;
    std::int64_t start = 0;
    for (std::size_t k = 0; k < s.node().inputs.size(); ++k) {
        const std::int64_t end = start + s.dims(s.x(k))[static_cast<std::size_t>(axis)];
        gradients.push_back(s.wants(k) ? slice(s.g(), axis, start, end) : Term());
        start = end;
    }
    return gradients;
}

void concat_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 4), axis = i.extent(-rank, rank - 1);
    Dims dims = i.extents(rank);
    Terms parts;
    for (std::int64_t k = i.extent(1, 4); k > 0; --k) {
        dims[static_cast<std::size_t>(Site::axis(axis, rank))] = i.extent(1, 4);
        parts.push_back(i.input(dims));
    }
    if (i.coin()) parts.push_back(parts[0]);
    i.apply(op::Concat, parts, {{"axis", axis}});
}

Terms split_rule(Site& s) {
    const std::int64_t axis = Site::axis(s.integer("axis", 0), s.rank(s.x(0)));
    Terms parts;
    for (std::size_t k = 0; k < s.node().outputs.size(); ++k) {
        Term part = s.g(k);
        if (!part) {  // nothing reads this output
            if (!s.y(k)) s.refuse("it leaves out an output");
            part = expand(s.b.number(0, s.x(0)), s.dims(s.y(k)));
        }
        parts.push_back(part);
    }
    return {concat(parts, axis)};
}

void split_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 4), axis = i.extent(-rank, rank - 1);
    const std::int64_t count = i.extent(1, 3);
    Dims dims = i.extents(rank), sizes;
    for (std::int64_t k = 0; k < count; ++k) sizes.push_back(i.extent(1, 3));
    const bool stated = i.coin();
    std::int64_t& whole = dims[static_cast<std::size_t>(Site::axis(axis, rank))];
    whole = stated ? std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})
                   : 2 * count + (count > 1 ? 1 : 0);
    Attributes attributes = {{"axis", axis}};
    if (!stated) attributes["num_outputs"] = count;
    const Term x = i.input(dims);
    const Terms parts = i.b.add(op::Split, stated ? Terms{x, i.b.integers(sizes)} : Terms{x}, attributes,
                                static_cast<std::size_t>(count));
    const std::int64_t read = i.extent(0, count - 1);  // at least this one
    for (std::int64_t k = 0; k < count; ++k)
        if (k == read || i.coin()) i.output(parts[static_cast<std::size_t>(k)]);
}

// x with its elements along `axis` in reverse.
Term reversed(Term x, std::int64_t axis) {
    Builder& b = *x.builder;
    return b.add(op::Slice, {x, b.integers({-1}), b.integers({std::numeric_limits<std::int64_t>::min()}),
                             b.integers({axis}), b.integers({-1})});
}

// x with step - 1 zeros behind each element along `axis`.
Term spread(Term x, std::int64_t axis, std::int64_t step) {
    if (step == 1) return x;
    const auto at = static_cast<std::ptrdiff_t>(axis);
    Dims dims = x.builder->dims(x), apart = dims;
    apart.insert(apart.begin() + at + 1, 1);
    Dims behind(apart.size());
    behind[static_cast<std::size_t>(axis) + 1] = step - 1;
    dims[static_cast<std::size_t>(axis)] *= step;
    return reshape(pad(reshape(x, apart), Dims(apart.size()), behind), dims);
}

Terms slice_rule(Site& s) {
    const Dims whole = s.dims(s.x(0)), part = s.dims(s.y());
    if (std::ranges::find(part, 0) != part.end()) return {};  // it takes nothing
    const Dims starts = s.integers(1, "starts");
    const Dims axes = s.x(3) ? s.integers(3, "axes") : first_axes(starts.size());
    const Dims steps = s.x(4) ? s.integers(4, "steps") : Dims(starts.size(), 1);
    Term g = s.g();
    Dims before(whole.size()), after(whole.size());
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const std::int64_t axis = Site::axis(axes[k], s.rank(s.x(0)));
        const auto at = static_cast<std::size_t>(axis);
        std::int64_t step = part[at] == 1 ? 1 : steps[k];
        std::int64_t start = starts[k] < 0 ? starts[k] + whole[at] : starts[k];
        start = std::clamp<std::int64_t>(start, 0, whole[at] - 1);
        if (step < 0) {
            g = reversed(g, axis);
            start += (part[at] - 1) * step;
            step = -step;
        }
        g = spread(g, axis, step);
        before[at] = start;
        after[at] = whole[at] - start - part[at] * step;
    }
    return {pad(g, before, after)};
}

void slice_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 3);
    const Dims dims = i.extents(rank, 7);
    Dims axes = i.permutation(rank);
    axes.resize(static_cast<std::size_t>(i.extent(1, rank)));
    const bool stated = i.coin(), plain = !stated && i.coin();
    if (!stated) axes = first_axes(axes.size());
    Dims starts, ends, steps;
    for (std::int64_t& axis : axes) {
        const std::int64_t extent = dims[static_cast<std::size_t>(axis)];
        steps.push_back(plain ? 1 : i.pick<std::int64_t>({1, 2, 3, -1, -2, -3}));
        starts.push_back(i.extent(0, extent / 2));
        ends.push_back(i.extent(extent / 2 + 1, extent + 1));
        if (steps.back() < 0) {
            std::swap(starts.back(), ends.back());
            if (i.coin()) ends.back() = std::numeric_limits<std::int64_t>::min();
        } else if (i.coin()) {
            starts.back() -= extent;
        }
        if (i.coin()) axis -= rank;
    }
    Terms inputs = {i.input(dims), i.b.integers(starts), i.b.integers(ends)};
    if (!plain) {
        inputs.push_back(stated ? i.b.integers(axes) : Term{&i.b, ValueId::none});
        inputs.push_back(i.b.integers(steps));
    }
    i.apply(op::Slice, inputs);
}

// --- again

void expand_instance(Instance& i) {
    const Dims whole = i.extents(i.extent(1, 4));
    i.apply(op::Expand,
            {i.input(i.broadcast_of(whole)), i.b.integers(i.coin() ? whole : i.broadcast_of(whole))});
}

// Each axis of y is two: its copies, which are summed, and the axis of x.
Terms tile_rule(Site& s) {
    const Dims dims = s.dims(s.x(0)), tiled = s.dims(s.y());
    Dims apart, copies;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == 0) return {};
        if (tiled[axis] != dims[axis]) {
            copies.push_back(static_cast<std::int64_t>(apart.size()));
            apart.push_back(tiled[axis] / dims[axis]);
        }
        apart.push_back(dims[axis]);
    }
    return {reshape(sum(reshape(s.g(), apart), copies, false), dims)};
}

void tile_instance(Instance& i) {
    const Dims dims = i.extents(i.extent(1, 4), 3);
    Dims repeats;
    for (std::size_t k = 0; k < dims.size(); ++k) repeats.push_back(i.extent(1, 3));
    i.apply(op::Tile, {i.input(dims), i.b.integers(repeats)});
}

// --- blocks

Terms depth_to_space_rule(Site& s) {
    const std::int64_t block = s.integer("blocksize", 1);
    if (s.node().get("mode", std::string("DCR")) == "DCR")
        return {s.b.add(op::SpaceToDepth, {s.g()}, {{"blocksize", block}})};
    const Dims dims = s.dims(s.x(0));
    const Term blocks = reshape(s.g(), {dims[0], dims[1] / (block * block), dims[2], block, dims[3], block});
    return {reshape(transpose(blocks, {0, 1, 3, 5, 2, 4}), dims)};
}

void depth_to_space_instance(Instance& i) {
    const std::int64_t block = i.extent(1, 3);
    Attributes attributes = {{"blocksize", block}};
    if (i.coin()) attributes["mode"] = i.pick<std::string>({"DCR", "CRD"});
    const Dims dims = {i.extent(1, 2), i.extent(1, 3) * block * block, i.extent(1, 3), i.extent(1, 3)};
    i.apply(op::DepthToSpace, {i.input(dims)}, attributes);
}

// --- along an axis

Terms cum_sum_rule(Site& s) {
    Attributes attributes = s.node().attributes;
    attributes["reverse"] = std::int64_t{s.integer("reverse", 0) == 0 ? 1 : 0};
    return {s.b.add(op::CumSum, {s.g(), s.x(1)}, attributes)};
}

void cum_sum_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 3);
    const std::int64_t axis = i.extent(-rank, rank - 1);
    Attributes attributes;
    if (i.coin()) attributes["exclusive"] = std::int64_t{i.coin()};
    if (i.coin()) attributes["reverse"] = std::int64_t{i.coin()};
    i.apply(op::CumSum, {i.input(i.extents(rank)), i.b.constant(Tensor::scalar(axis))}, attributes);
}

// The operators that move the gradient back as they moved x.
Terms moved_again(Site& s) {
    Terms inputs = {s.g()};
    if (s.x(1)) inputs.push_back(s.x(1));
    return {s.b.add(s.node().op, inputs, s.node().attributes)};
}

void reverse_sequence_instance(Instance& i) {
    const Dims dims = i.extents(i.extent(2, 4));
    const std::int64_t time = i.coin() ? 0 : 1;
    Attributes attributes;
    if (time == 1 || i.coin()) attributes = {{"time_axis", time}, {"batch_axis", std::int64_t{1} - time}};
    i.apply(op::ReverseSequence,
            {i.input(dims), i.indices({dims[time == 0 ? 1 : 0]}, 1, dims[time == 0 ? 0 : 1])}, attributes);
}

void trilu_instance(Instance& i) {
    Terms inputs = {i.input(i.extents(i.extent(2, 4)))};
    if (i.coin()) inputs.push_back(i.b.constant(Tensor::scalar(i.extent(-3, 3))));
    i.apply(op::Trilu, inputs, i.coin() ? Attributes() : Attributes{{"upper", std::int64_t{i.coin()}}});
}

}  // namespace

std::vector<Rule> movement_rules() {
    const auto multilinear = Rule::Form::multilinear;
    return {
        {op::Reshape, "dx = g in x's dimensions", multilinear, reshaped_back, reshape_instance},
        {op::Flatten, "dx = g in x's dimensions", multilinear, reshaped_back, flatten_instance},
        {op::Squeeze, "dx = g in x's dimensions", multilinear, reshaped_back, squeeze_instance},
        {op::Unsqueeze, "dx = g in x's dimensions", multilinear, reshaped_back,
         [](Instance& i) {
             i.apply(op::Unsqueeze,
                     {i.input(i.extents(2)), i.b.integers(i.pick<Dims>({{0}, {-1}, {1, -1}, {0, 3}}))});
         }},
        {op::Transpose, "dx = g with the axes in x's order", multilinear, transpose_rule,
         [](Instance& i) {
             const std::int64_t rank = i.extent(1, 4);
             i.apply(op::Transpose, {i.input(i.extents(rank))},
                     i.extent(0, 3) == 0 ? Attributes() : Attributes{{"perm", i.permutation(rank)}});
         }},
        {op::Concat, "each input gets its part of g", multilinear, concat_rule, concat_instance},
        {op::Split, "dx = the g of all parts, 0 for those that nothing reads", multilinear, split_rule,
         split_instance},
        {op::Slice, "dx = g where x was taken, 0 elsewhere", multilinear, slice_rule, slice_instance},
        {op::Expand, "dx = Σ g over the copies", multilinear,
         [](Site& s) -> Terms { return {reduce_to(s.g(), s.x(0))}; }, expand_instance},
        {op::Tile, "dx = Σ g over the copies", multilinear, tile_rule, tile_instance},
        {op::DepthToSpace, "dx = SpaceToDepth(g), with the same order of channels", multilinear,
         depth_to_space_rule, depth_to_space_instance},
        {op::SpaceToDepth, "dx = DepthToSpace(g)", multilinear,
         [](Site& s) -> Terms {
             return {s.b.add(op::DepthToSpace, {s.g()}, {{"blocksize", s.integer("blocksize", 1)}})};
         },
         [](Instance& i) {
             const std::int64_t block = i.extent(1, 3);
             const Dims dims = {i.extent(1, 2), i.extent(1, 3), i.extent(1, 2) * block,
                                i.extent(1, 3) * block};
             i.apply(op::SpaceToDepth, {i.input(dims)}, {{"blocksize", block}});
         }},
        {op::Trilu, "dx = Trilu(g)", multilinear, moved_again, trilu_instance},
        {op::CumSum, "dx = CumSum(g) from the other end", multilinear, cum_sum_rule, cum_sum_instance},
        {op::ReverseSequence, "dx = ReverseSequence(g)", multilinear, moved_again, reverse_sequence_instance},
        {op::CastLike, "dx = g in x's type", multilinear,
         [](Site& s) -> Terms { return {cast(s.g(), s.b.element(s.x(0)))}; },
         [](Instance& i) {
             const float like[] = {1};
             i.apply(op::CastLike, {i.input(i.extents(3)), i.b.constant(Tensor::f32({1}, like))});
         }},
    };
}

}  // namespace viridian::gradient
