// BatchNormalization with given statistics (an affine map for each channel) and with those of the batch
// (Ioffe and Szegedy, "Batch Normalization", 2015, section 3).
//
// ONNX's operator does not give the mean and the inverse deviation of the batch, which the gradient needs.
// A node in training mode therefore becomes the private operator BatchNormalizationTraining when it is
// differentiated: it has the same outputs and these two behind them, so that nothing is computed twice. The
// running variance is that of the batch's population, without Bessel's correction, as in ONNX.
#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/statistics.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// The axes that the statistics of a channel reduce, and the dims with which one number for each channel
// broadcasts to x.
struct Channels {
    Dims reduced, broadcast;
    double count;  // elements of a channel
};
Channels channels_of(const Dims& dims) {
    Channels made = {{}, Dims(dims.size(), 1), 1};
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        if (axis == 1) {
            made.broadcast[1] = dims[1];
        } else {
            made.reduced.push_back(static_cast<std::int64_t>(axis));
            made.count *= static_cast<double>(dims[axis]);
        }
    return made;
}

// Sums x over everything but the channels, to one number for each.
Term channel_sum(Term x, const Channels& channels) {
    return reshape(sum(x, channels.reduced), {x.builder->dims(x).size() > 1 ? channels.broadcast[1] : 1});
}

// --- given statistics: y = (x - mean) · r · scale + bias with r = 1 / √(variance + ε)

Terms inference_rule(Site& s) {
    const ElementType work = statistics_type(s.b.element(s.x(3)));
    const Channels channels = channels_of(s.dims(s.x()));
    const auto wide = [&](Term x) { return reshape(cast(x, work), channels.broadcast); };
    const Term g = cast(s.g(), work), scale = cast(s.x(1), work);
    const Term r = 1.0 / sqrt(cast(s.x(4), work) + s.real("epsilon", 1e-5));
    Terms made(5);
    if (s.wants(0)) made[0] = cast(g * wide(scale * r), s.b.element(s.x(0)));
    if (!s.wants(1) && !s.wants(2) && !s.wants(3) && !s.wants(4)) return made;
    const Term total = channel_sum(g, channels);
    if (s.wants(2)) made[2] = cast(total, s.b.element(s.x(2)));
    if (s.wants(3)) made[3] = cast(-(total * (scale * r)), s.b.element(s.x(3)));
    if (!s.wants(1) && !s.wants(4)) return made;
    const Term along = channel_sum(g * (cast(s.x(0), work) - wide(s.x(3))), channels) * r;
    if (s.wants(1)) made[1] = cast(along, s.b.element(s.x(1)));
    if (s.wants(4)) made[4] = cast(along * scale * square(r) / -2, s.b.element(s.x(4)));
    return made;
}

// --- statistics of the batch

// Inputs: x, scale, bias, running mean, running variance. Outputs: y, the new running mean and variance, and
// the mean and inverse deviation of the batch.
Terms training_meaning(Builder& b, const Terms& in, double epsilon, double momentum) {
    const ElementType work = statistics_type(b.element(in[3]));
    const Channels channels = channels_of(b.dims(in[0]));
    const auto wide = [&](Term x) { return reshape(cast(x, work), channels.broadcast); };
    const auto running = [&](Term before, Term now) {
        return cast(cast(before, work) * momentum + now * (1 - momentum), b.element(before));
    };
    const Term x = cast(in[0], work);
    const Term average = channel_sum(x, channels) / channels.count;
    const Term distance = x - wide(average);
    const Term variance = channel_sum(square(distance), channels) / channels.count;
    const Term inverse = 1.0 / sqrt(variance + epsilon);
    const Term y = distance * wide(cast(in[1], work) * inverse) + wide(in[2]);
    return {cast(y, b.element(in[0])), running(in[3], average), running(in[4], variance), average, inverse};
}

// Inputs: g, x, scale, and the mean and inverse deviation of the batch. Outputs: dx, dscale, dbias.
Terms batch_gradient_meaning(Builder& b, const Terms& in) {
    const ElementType work = b.element(in[3]);
    const Channels channels = channels_of(b.dims(in[1]));
    const auto wide = [&](Term x) { return reshape(x, channels.broadcast); };
    const Term g = cast(in[0], work), scale = cast(in[2], work), inverse = in[4];
    const Term normal = (cast(in[1], work) - wide(in[3])) * wide(inverse);
    const Term dbias = channel_sum(g, channels), dscale = channel_sum(g * normal, channels);
    const Term centred = g - wide(dbias / channels.count) - normal * wide(dscale / channels.count);
    return {cast(centred * wide(scale * inverse), b.element(in[1])), cast(dscale, b.element(in[2])),
            cast(dbias, b.element(in[2]))};
}

// Gradients that arrive at the new running mean and variance.
void add_running_gradients(Site& s, Term average, double momentum, Terms& made) {
    const ElementType work = s.b.element(average);
    const Dims dims = s.dims(s.x());
    const Channels channels = channels_of(dims);
    const double share = (1 - momentum) / channels.count;
    const auto add_to_dx = [&](Term part) {
        part = cast(part, s.b.element(s.x()));
        made[0] = made[0] ? made[0] + part : part;
    };
    if (s.g(1)) {
        made[3] = s.g(1) * momentum;
        add_to_dx(expand(reshape(cast(s.g(1), work) * share, channels.broadcast), dims));
    }
    if (s.g(2)) {
        made[4] = s.g(2) * momentum;
        const Term distance = cast(s.x(), work) - reshape(average, channels.broadcast);
        add_to_dx(distance * reshape(cast(s.g(2), work) * (2 * share), channels.broadcast));
    }
}

Terms training_rule(Site& s) {
    const double epsilon = s.real("epsilon", 1e-5), momentum = s.real("momentum", 0.9);
    s.become(op::BatchNormalizationTraining, {{"epsilon", epsilon}, {"momentum", momentum}},
             [=](Builder& b, const Terms& in) { return training_meaning(b, in, epsilon, momentum); });
    const Term average = s.output(3, "batch_mean"), inverse = s.output(4, "batch_inverse_deviation");
    Terms made;
    if (s.g())
        made = s.b.call(op::BatchNormalizationGrad, {s.g(), s.x(0), s.x(1), average, inverse}, {},
                        batch_gradient_meaning);
    made.resize(5);
    add_running_gradients(s, average, momentum, made);
    return made;
}

// --- instances

void batch_norm_instance(Instance& i) {
    const bool training = i.coin();
    const std::int64_t rank = i.extent(1, 5), channels = rank == 1 ? 1 : i.extent(1, 3);
    Dims dims = i.extents(rank, 3);
    dims[0] = i.extent(3, 4);
    if (rank > 1) dims[1] = channels;
    if (rank > 2) dims[2] = i.extent(2, 3);
    Attributes attributes;
    if (i.coin()) attributes["epsilon"] = i.pick({0x1p-17, 0.25, 0.75});
    if (i.coin()) attributes["momentum"] = i.pick({0.25, 0.75});
    if (training) attributes["training_mode"] = std::int64_t{1};
    const Dims each = {channels};
    const Terms inputs = {i.input(dims, {.low = -2, .margin = 0.15, .distinct = true}), i.input(each),
                          i.input(each), i.input(each), i.input(each, {.low = 0.3, .high = 3})};
    const std::int64_t outputs = training ? i.extent(1, 3) : 1;
    const Terms made = i.b.add(op::BatchNormalization, inputs, attributes, static_cast<std::size_t>(outputs));
    const std::int64_t unused = outputs == 1 ? 3 : i.extent(0, 3);
    for (std::size_t k = 0; k < made.size(); ++k)
        if (static_cast<std::int64_t>(k) != unused) i.output(made[k]);
}

}  // namespace

std::vector<Rule> batch_norm_rules() {
    return {
        {op::BatchNormalization,
         "dx = scale · r · (g - mean g - n · mean(g · n)), without the means if the statistics are given; "
         "dscale = Σ g · n, dbias = Σ g",
         Rule::Form::smooth,
         [](Site& s) { return s.integer("training_mode", 0) != 0 ? training_rule(s) : inference_rule(s); },
         batch_norm_instance},
    };
}

}  // namespace viridian::gradient
