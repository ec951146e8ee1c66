// Elements by computed places. What was read is scattered back, and what was read twice is added up.
#include "viridian/gradient/rules/gather.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

std::int64_t elements_of(const Dims& dims) {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

Term zeros(Term of_type, const Dims& dims) { return expand(of_type.builder->number(0, of_type), dims); }

const Attributes adding = {{"reduction", std::string("add")}};

// The meaning of GatherGrad: with `axis` first, the rows of g are added to rows of zeros.
Terms gather_grad_meaning(Term g, Term indices, std::int64_t axis, const Dims& dims) {
    Builder& b = *g.builder;
    const std::int64_t width = b.rank(indices), rank = b.rank(g);
    Dims order, rows = {elements_of(b.dims(indices))}, table = {dims[static_cast<std::size_t>(axis)]};
    for (std::int64_t k = axis; k < axis + width; ++k) order.push_back(k);
    for (std::int64_t k = 0; k < rank; ++k)
        if (k < axis || k >= axis + width) {
            order.push_back(k);
            rows.push_back(b.dims(g)[static_cast<std::size_t>(k)]);
            table.push_back(rows.back());
        }
    const Term places = reshape(cast(indices, ElementType::i64), {rows[0], 1});
    const Term sums =
        b.add(op::ScatterND, {zeros(g, table), places, reshape(transpose(g, order), rows)}, adding);
    Dims back;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(dims.size()); ++k)
        back.push_back(k < axis ? k + 1 : k == axis ? 0 : k);
    return {transpose(sums, back)};
}

// --- Gather

Terms gather_rule(Site& s) {
    return {gather_gradient(s.g(), s.x(1), Site::axis(s.integer("axis", 0), s.rank(s.x(0))), s.dims(s.x(0)))};
}

// Sets `axis` to an axis of a tensor of this rank, counted from either end; now and then leaves out 0.
std::int64_t draw_axis(Instance& i, Attributes& attributes, std::int64_t rank) {
    const std::int64_t axis = i.extent(-rank, rank - 1);
    if (axis != 0 || i.coin()) attributes["axis"] = axis;
    return Site::axis(axis, rank);
}

void gather_instance(Instance& i) {
    const Dims dims = i.extents(i.extent(1, 4), 4);
    Attributes attributes;
    const std::int64_t axis = draw_axis(i, attributes, static_cast<std::int64_t>(dims.size()));
    const std::int64_t size = dims[static_cast<std::size_t>(axis)];
    i.apply(op::Gather, {i.input(dims), i.indices(i.extents(i.extent(0, 2), 4), -size, size - 1)},
            attributes);
}

// --- GatherElements and ScatterElements

Terms gather_elements_rule(Site& s) {
    Attributes attributes = adding;
    attributes["axis"] = s.integer("axis", 0);
    return {s.b.add(op::ScatterElements, {zeros(s.g(), s.dims(s.x(0))), s.x(1), s.g()}, attributes)};
}

void gather_elements_instance(Instance& i) {
    const Dims dims = i.extents(i.extent(1, 3), 4);
    Attributes attributes;
    const auto axis =
        static_cast<std::size_t>(draw_axis(i, attributes, static_cast<std::int64_t>(dims.size())));
    Dims taken = dims;
    for (std::int64_t& extent : taken) extent = i.extent(1, extent);
    taken[axis] = i.extent(1, 5);
    i.apply(op::GatherElements, {i.input(dims), i.indices(taken, -dims[axis], dims[axis] - 1)}, attributes);
}

// The gradients of both scatters: `taken` reads g at the places, `erased` is g with 0 at the places.
Terms scatter_gradients(Site& s, graph::KnownOperator gather, graph::KnownOperator scatter) {
    const std::string kind = s.node().get("reduction", std::string("none"));
    if (kind != "none" && kind != "add")
        s.refuse(fmt::format("gradients do not flow through its reduction `{}` yet", kind));
    Attributes attributes = s.node().attributes;
    attributes.erase("reduction");
    Term data = s.g(), updates;
    if (kind == "none" && s.wants(0))
        data = s.b.add(scatter, {s.g(), s.x(1), zeros(s.g(), s.dims(s.x(2)))}, attributes);
    if (s.wants(2)) updates = s.b.add(gather, {s.g(), s.x(1)}, attributes);
    return {data, Term(), updates};
}

Attributes scatter_attributes(Instance& i, bool adds) {
    if (adds) return adding;
    return i.coin() ? Attributes{{"reduction", std::string("none")}} : Attributes();
}

// Without a reduction, no place may be written twice: the places along the axis are part of a permutation.
void scatter_elements_instance(Instance& i) {
    const Dims dims = i.extents(i.extent(1, 3), 4);
    const bool adds = i.coin();
    Attributes attributes = scatter_attributes(i, adds);
    const auto axis =
        static_cast<std::size_t>(draw_axis(i, attributes, static_cast<std::int64_t>(dims.size())));
    Dims written = dims;
    for (std::int64_t& extent : written) extent = i.extent(1, extent);
    if (adds) written[axis] = i.extent(1, 5);
    const Dims order = i.permutation(dims[axis]);
    const std::int64_t inner =
        elements_of(Dims(written.begin() + static_cast<std::ptrdiff_t>(axis) + 1, written.end()));
    Dims places(static_cast<std::size_t>(elements_of(written)));
    for (std::size_t k = 0; k < places.size(); ++k) {
        const std::int64_t along = static_cast<std::int64_t>(k) / inner % written[axis];
        places[k] = order[static_cast<std::size_t>(along % dims[axis])] - (i.coin() ? dims[axis] : 0);
    }
    i.apply(op::ScatterElements,
            {i.input(dims), i.b.constant(Tensor::i64(written, places)), i.input(written)}, attributes);
}

// --- GatherND and ScatterND

// The places with the coordinates of the batch axes in front of them.
Term with_batch(Term places, std::int64_t batch) {
    Builder& b = *places.builder;
    Dims one = b.dims(places);
    one.back() = 1;
    Terms parts;
    for (std::int64_t axis = 0; axis < batch; ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        Dims numbers(static_cast<std::size_t>(one[at])), alone(one.size(), 1);
        std::iota(numbers.begin(), numbers.end(), 0);
        alone[at] = one[at];
        parts.push_back(expand(b.constant(Tensor::i64(alone, numbers)), one));
    }
    parts.push_back(places);
    return concat(parts, static_cast<std::int64_t>(one.size()) - 1);
}

Terms gather_nd_rule(Site& s) {
    const Term places = with_batch(s.x(1), s.integer("batch_dims", 0));
    return {s.b.add(op::ScatterND, {zeros(s.g(), s.dims(s.x(0))), places, s.g()}, adding)};
}

// Places in `dims` behind `batch` axes, `width` coordinates each.
Term draw_places(Instance& i, const Dims& dims, std::int64_t batch, std::int64_t width) {
    Dims shape(dims.begin(), dims.begin() + batch);
    for (const std::int64_t extent : i.extents(i.extent(0, 2), 3)) shape.push_back(extent);
    if (shape.size() == static_cast<std::size_t>(batch)) shape.push_back(3);
    shape.push_back(width);
    Dims places;
    for (std::int64_t k = 0; k < elements_of(shape); ++k) {
        const std::int64_t extent = dims[static_cast<std::size_t>(batch + k % width)];
        places.push_back(i.extent(-extent, extent - 1));
    }
    return i.b.constant(Tensor::i64(shape, places));
}

void gather_nd_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 4);
    const Dims dims = i.extents(rank, 4);
    const std::int64_t batch = i.extent(0, std::min<std::int64_t>(2, rank - 1));
    const Attributes attributes = batch == 0 ? Attributes() : Attributes{{"batch_dims", batch}};
    i.apply(op::GatherND, {i.input(dims), draw_places(i, dims, batch, i.extent(1, rank - batch))},
            attributes);
}

void scatter_nd_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 3);
    const Dims dims = i.extents(rank, 4);
    const bool adds = i.coin();
    const Attributes attributes = scatter_attributes(i, adds);
    Term places = draw_places(i, dims, 0, i.extent(1, rank));
    if (!adds) {  // different rows
        Dims rows = i.permutation(dims[0]);
        rows.resize(static_cast<std::size_t>(i.extent(1, dims[0])));
        places = i.b.constant(Tensor::i64({static_cast<std::int64_t>(rows.size()), 1}, rows));
    }
    const Dims& shape = i.b.dims(places);
    Dims updates(shape.begin(), shape.end() - 1);
    updates.insert(updates.end(), dims.begin() + shape.back(), dims.end());
    i.apply(op::ScatterND, {i.input(dims), places, i.input(updates)}, attributes);
}

// --- OneHot

Terms one_hot_rule(Site& s) {
    const float off_and_on[] = {0, 1};
    const Term values = cast(s.b.constant(Tensor::f32({2}, off_and_on)), s.b.element(s.g()));
    const Term hot = s.b.add(op::OneHot, {s.x(0), s.x(1), values}, s.node().attributes);
    Dims all(s.dims(s.g()).size());
    std::iota(all.begin(), all.end(), 0);
    const Term on = reshape(sum(s.g() * hot, all), {1});
    return {Term(), Term(), concat({reshape(sum(s.g(), all), {1}) - on, on}, 0)};
}

void one_hot_instance(Instance& i) {
    const std::int64_t depth = i.extent(1, 4), rank = i.extent(0, 2);
    Attributes attributes;
    if (i.coin()) attributes["axis"] = i.extent(-rank - 1, rank);
    i.apply(op::OneHot,
            {i.indices(i.extents(rank, 3), -depth, depth), i.b.constant(Tensor::scalar(depth)), i.input({2})},
            attributes);
}

}  // namespace

Term gather_gradient(Term g, Term indices, std::int64_t axis, const Dims& dims) {
    return g.builder->call(op::GatherGrad, {g, indices}, {{"axis", axis}}, [&](Builder&, const Terms& in) {
        return gather_grad_meaning(in[0], in[1], axis, dims);
    })[0];
}

std::vector<Rule> gather_rules() {
    using enum Rule::Form;
    const auto scatter_elements = [](Site& s) {
        return scatter_gradients(s, op::GatherElements, op::ScatterElements);
    };
    const auto scatter_nd = [](Site& s) { return scatter_gradients(s, op::GatherND, op::ScatterND); };
    return {
        {op::Gather, "dx = Σ of the g that were read from a place", multilinear, gather_rule,
         gather_instance},
        {op::GatherElements, "dx = Σ of the g that were read from a place", multilinear, gather_elements_rule,
         gather_elements_instance},
        {op::GatherND, "dx = Σ of the g that were read from a place", multilinear, gather_nd_rule,
         gather_nd_instance},
        {op::ScatterElements, "ddata = g, with 0 at the places if they are replaced; dupdates = g there",
         multilinear, scatter_elements, scatter_elements_instance},
        {op::ScatterND, "ddata = g, with 0 at the places if they are replaced; dupdates = g there",
         multilinear, scatter_nd, scatter_nd_instance},
        {op::OneHot, "dvalues = (Σ g elsewhere, Σ g at the indices)", smooth, one_hot_rule, one_hot_instance},
    };
}

}  // namespace viridian::gradient
