#include "viridian/data/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace viridian::data {

class Splitter {
  public:
    static Subset part(std::optional<Permutation> order, std::int64_t first, std::int64_t count) {
        Subset subset(count);
        subset.order_ = std::move(order);
        subset.first_ = first;
        return subset;
    }
};

Result<Split> split(std::int64_t samples, double fraction, SplitBy by, std::uint64_t seed) {
    if (!(fraction >= 0 && fraction < 1))
        return fail(ErrorCode::invalid_argument, "choose a fraction from 0 to 0.99",
                    "{} of the samples cannot be kept for evaluation", fraction);
    if (fraction == 0) return Split{Subset(samples), Subset(0)};
    if (samples < 2)
        return fail(ErrorCode::malformed, "add samples, or give a second file for evaluation",
                    "{} sample cannot be split into training and evaluation", samples);
    const auto rounded = static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(samples)));
    const std::int64_t evaluation = std::clamp<std::int64_t>(rounded, 1, samples - 1);
    std::optional<Permutation> order;
    if (by == SplitBy::seed) order.emplace(samples, seed, std::numeric_limits<std::uint64_t>::max());
    return Split{Splitter::part(order, 0, samples - evaluation),
                 Splitter::part(order, samples - evaluation, evaluation)};
}

Sampler::Sampler(SamplerOptions options) : options_(std::move(options)) {
    const std::int64_t count = options_.from.count();
    used_ = options_.drop_last ? count - count % options_.batch : count;
    steps_ = (used_ - 1) / options_.batch + 1;
}

Result<Sampler> Sampler::make(SamplerOptions options) {
    if (options.batch < 1 || options.micro_batches < 1 || options.replicas < 1)
        return fail(ErrorCode::invalid_argument, "choose numbers from 1 on",
                    "a batch of {} samples, {} micro-batches and {} replicas are not possible", options.batch,
                    options.micro_batches, options.replicas);
    if (options.batch % options.replicas != 0 ||
        options.batch / options.replicas % options.micro_batches != 0)
        return fail(ErrorCode::invalid_argument, "choose a batch that is a multiple of their product",
                    "a batch of {} samples cannot be divided by {} micro-batches and {} replicas",
                    options.batch, options.micro_batches, options.replicas);
    if (options.from.count() == 0)
        return fail(ErrorCode::invalid_argument,
                    "give a file with samples, or a smaller fraction for evaluation",
                    "there are no samples to draw from");
    if (options.drop_last && options.from.count() < options.batch)
        return fail(ErrorCode::invalid_argument, "choose a smaller batch, or keep the last batch",
                    "{} samples do not fill one batch of {}", options.from.count(), options.batch);
    return Sampler(std::move(options));
}

std::int64_t Sampler::samples_of(std::int64_t step) const {
    return std::min(options_.batch, used_ - step % steps_ * options_.batch);
}

Draw Sampler::places(std::int64_t step, std::int64_t begin, std::int64_t end) const {
    Draw draw;
    draw.step = step;
    draw.epoch = epoch_of(step);
    const std::int64_t size = samples_of(step), batch_begin = step % steps_ * options_.batch;
    begin = std::min(begin, size);
    end = std::min(end, size);
    draw.first = draw.epoch * used_ + batch_begin + begin;
    draw.samples.reserve(static_cast<std::size_t>(end - begin));
    const Permutation order(options_.from.count(), options_.seed, static_cast<std::uint64_t>(draw.epoch));
    for (std::int64_t place = batch_begin + begin; place < batch_begin + end; ++place)
        draw.samples.push_back(options_.from.at(options_.shuffle ? order.at(place) : place));
    return draw;
}

Draw Sampler::draw(std::int64_t step, std::int64_t micro_batch, std::int64_t replica) const {
    const std::int64_t size = options_.batch / options_.replicas / options_.micro_batches;
    const std::int64_t part = micro_batch * options_.replicas + replica;
    Draw draw = places(step, part * size, (part + 1) * size);
    draw.micro_batch = micro_batch;
    draw.replica = replica;
    return draw;
}

Draw Sampler::whole(std::int64_t step) const { return places(step, 0, options_.batch); }

}  // namespace viridian::data
