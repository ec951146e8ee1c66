// Elements around a tensor, or cut from it.
#include <algorithm>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/gather.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

Dims padded_axes(std::size_t rank) {
    Dims axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

Dims negated(Dims numbers) {
    for (std::int64_t& number : numbers) number = -number;
    return numbers;
}

// Where each place of a padded axis is read from.
Dims padding_sources(std::int64_t size, std::int64_t before, std::int64_t after, std::string_view mode) {
    Dims from;
    const std::int64_t period = std::max<std::int64_t>(1, 2 * (size - 1));
    for (std::int64_t k = -before; k < size + after; ++k) {
        if (mode == "edge") from.push_back(std::clamp<std::int64_t>(k, 0, size - 1));
        if (mode == "wrap") from.push_back((k % size + size) % size);
        if (mode == "reflect") {
            const std::int64_t place = (k % period + period) % period;
            from.push_back(place < size ? place : period - place);
        }
    }
    return from;
}

Terms pad_rule(Site& s) {
    const Dims dims = s.dims(s.x(0)), pads = s.integers(1, "pads");
    const Dims axes = s.x(3) ? s.integers(3, "axes") : padded_axes(dims.size());
    const std::string mode = s.node().get("mode", std::string("constant"));
    Dims before(dims.size()), after(dims.size());
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const auto axis = static_cast<std::size_t>(Site::axis(axes[k], s.rank(s.x(0))));
        before[axis] = pads[k];
        after[axis] = pads[k + axes.size()];
    }
    if (mode == "constant") {
        const Term dx = pad(s.g(), negated(before), negated(after));
        if (!s.wants(2)) return {dx};
        const Dims all = padded_axes(dims.size());
        return {dx, Term(), like(sum(s.g(), all) - sum(dx, all), s.x(2))};
    }
    Term g = s.g();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (before[axis] == 0 && after[axis] == 0) continue;
        Dims whole = s.dims(g);
        whole[axis] = dims[axis];
        const Dims from = padding_sources(dims[axis], before[axis], after[axis], mode);
        g = gather_gradient(g, s.b.integers(from), static_cast<std::int64_t>(axis), whole);
    }
    return {g};
}

void pad_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 3);
    const Dims dims = i.extents(rank, 4);
    const bool stated = i.coin();
    Dims axes = stated ? i.permutation(rank) : padded_axes(dims.size());
    if (stated) axes.resize(static_cast<std::size_t>(i.extent(1, rank)));
    Dims pads(2 * axes.size());
    for (std::size_t k = 0; k < pads.size(); ++k) {
        const std::int64_t extent = dims[static_cast<std::size_t>(axes[k % axes.size()])];
        pads[k] = i.extent(-(extent - 1) / 2, 3);
    }
    for (std::int64_t& axis : axes)
        if (i.coin()) axis -= rank;
    Attributes attributes;
    Terms inputs = {i.input(dims), i.b.integers(pads)};
    const bool constant = i.coin();
    if (!constant) attributes["mode"] = i.pick<std::string>({"reflect", "edge", "wrap"});
    if (constant && i.coin())
        inputs.push_back(i.input({}));
    else if (stated)
        inputs.push_back({&i.b, ValueId::none});
    if (stated) inputs.push_back(i.b.integers(axes));
    i.apply(op::Pad, inputs, attributes);
}

Terms center_crop_pad_rule(Site& s) {
    const Dims from = s.dims(s.x(0)), to = s.dims(s.y());
    Dims before(from.size()), after(from.size());
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        before[axis] = (from[axis] - to[axis]) / 2;  // negative if the operator pads
        after[axis] = from[axis] - to[axis] - before[axis];
    }
    return {pad(s.g(), before, after)};
}

void center_crop_pad_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 3);
    Dims axes = i.permutation(rank), extents;
    axes.resize(static_cast<std::size_t>(i.extent(1, rank)));
    for (std::size_t k = 0; k < axes.size(); ++k) extents.push_back(i.extent(1, 7));
    i.apply(op::CenterCropPad, {i.input(i.extents(rank)), i.b.integers(extents)}, {{"axes", axes}});
}

}  // namespace

std::vector<Rule> padding_rules() {
    const auto multilinear = Rule::Form::multilinear;
    return {
        {op::Pad, "dx = Σ of the g that are copies; dvalue = Σ g of what was filled", multilinear, pad_rule,
         pad_instance},
        {op::CenterCropPad, "dx = g where x was taken, 0 elsewhere", multilinear, center_crop_pad_rule,
         center_crop_pad_instance},
    };
}

}  // namespace viridian::gradient
