#include "viridian/data/batches.hpp"

#include <algorithm>
#include <cstring>

#include "viridian/data/convert.hpp"
#include "viridian/data/images.hpp"
#include "viridian/data/labels.hpp"

namespace viridian::data {
namespace {

using graph::Tensor;

// Rows of different lengths, in equally long ones: `rows` is [n, longest, ...], the result [n, length, ...].
Result<Tensor> padded(const Tensor& rows, std::span<const std::int64_t> lengths, std::int64_t length,
                      double pad, std::string_view name) {
    graph::Dims dims = rows.dims();
    const std::int64_t longest = dims[1], count = dims[0];
    dims[1] = length;
    if (const auto elements = graph::element_count(dims); !elements.ok())
        return fail(ErrorCode::limit_exceeded, "choose a smaller batch",
                    "a batch of the column `{}` has more than 2^40 elements", name);
    Tensor result(rows.type(), dims);
    if (result.count() == 0) return result;
    const Tensor number = graph::is_floating(rows.type())
                              ? Tensor::f32({1}, std::vector<float>{static_cast<float>(pad)})
                              : Tensor::i64({1}, std::vector<std::int64_t>{static_cast<std::int64_t>(pad)});
    VIRIDIAN_TRY(const Tensor element, convert(number, rows.type(), {}, name));
    const auto size = static_cast<std::size_t>(graph::size_of(rows.type()));
    std::byte* to = result.mutable_bytes();
    for (std::int64_t i = 0; i < result.count(); ++i)
        std::memcpy(to + static_cast<std::size_t>(i) * size, element.bytes(), size);
    const auto inner = static_cast<std::size_t>(result.byte_count() / (count * length));
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t held = std::min(lengths[static_cast<std::size_t>(i)], length);
        std::memcpy(to + static_cast<std::size_t>(i * length) * inner,
                    rows.bytes() + static_cast<std::size_t>(i * longest) * inner,
                    static_cast<std::size_t>(held) * inner);
    }
    return result;
}

ImageShape image_shape(const graph::Dims& batch) {
    const std::size_t rank = batch.size();
    return {rank == 4 ? batch[1] : 1, batch[rank - 2], batch[rank - 1]};
}

// What normalisation does to each element: (x × scale - mean) / deviation.
Normalise normalise_of(const InputOptions& options, std::size_t channels) {
    Normalise normalise;
    normalise.factor.assign(channels, 1);
    normalise.offset.assign(channels, 0);
    const auto value = [](const std::vector<double>& list, std::size_t i, double otherwise) {
        return list.empty() ? otherwise : list[std::min(i, list.size() - 1)];
    };
    for (std::size_t i = 0; i < channels; ++i) {
        const double deviation = value(options.deviation, i, 1);
        normalise.factor[i] = options.scale / deviation;
        normalise.offset[i] = -value(options.mean, i, 0) / deviation;
    }
    return normalise;
}

}  // namespace

Result<void> Batches::check_labels(const Recipe& recipe, const Draw& draw, const Tensor& labels) const {
    if (draw.samples.empty()) return {};
    const std::int64_t row = labels.count() / static_cast<std::int64_t>(draw.samples.size());
    std::int64_t i = 0;
    for (const std::int64_t sample : draw.samples)
        for (std::int64_t k = 0; k < row; ++k)
            VIRIDIAN_TRY(check_label(dataset_, recipe.column, sample, labels.integer(i++),
                                     recipe.options.classes, recipe.options.ignored));
    return {};
}

Result<Tensor> Batches::make_input(const Recipe& recipe, const Draw& draw) const {
    const InputOptions& options = recipe.options;
    const Column& column = dataset_.column(recipe.column);
    VIRIDIAN_TRY(Tensor samples, dataset_.read(recipe.column, draw.samples));
    if (options.channels_last) samples = channels_first(samples);
    if (augment_ && (options.flip > 0 || options.crop > 0)) {
        std::vector<ImageChange> changes;
        for (const std::int64_t sample : draw.samples)
            changes.push_back(draw_change(seed_, draw.epoch, sample, options.flip, options.crop));
        samples = change_images(samples, image_shape(samples.dims()), changes, options.crop);
    }
    VIRIDIAN_TRY(Tensor converted,
                 convert(samples, recipe.type, normalise_of(options, recipe.channels), column.name));
    graph::Dims dims = {static_cast<std::int64_t>(draw.samples.size())};
    dims.insert(dims.end(), recipe.dims.begin(), recipe.dims.end());
    if (!column.varies) {
        converted = converted.reshaped(std::move(dims));
    } else {
        VIRIDIAN_TRY(const std::vector<std::int64_t> lengths, dataset_.lengths(recipe.column, draw.samples));
        const std::int64_t length = recipe.dims.front() < 0 ? converted.dims()[1] : recipe.dims.front();
        for (std::size_t i = 0; i < lengths.size(); ++i)
            if (lengths[i] > length && !options.truncate)
                return fail(ErrorCode::mismatch,
                            "cut the rows with --truncate, or export the model with a longer input",
                            "sample {} of `{}` has {} elements in `{}`, and the input `{}` takes {}",
                            draw.samples[i], dataset_.name(), lengths[i], column.name, options.input, length);
        const double pad = options.pad.value_or(static_cast<double>(options.ignored.value_or(0)));
        VIRIDIAN_TRY(converted, padded(converted, lengths, length, pad, column.name));
    }
    if (options.classes > 0) VIRIDIAN_TRY(check_labels(recipe, draw, converted));
    return converted;
}

Result<Tensor> Batches::make_mask(const Recipe& recipe, const Draw& draw) const {
    const auto count = static_cast<std::int64_t>(draw.samples.size());
    std::vector<std::uint8_t> ones;
    std::int64_t length = recipe.dims.front();
    if (recipe.padding) {
        VIRIDIAN_TRY(const Tensor rows, dataset_.read(recipe.column, draw.samples));
        if (length < 0) length = rows.dims()[1];
        ones.resize(static_cast<std::size_t>(count * length));
        const std::int64_t held = std::min(length, rows.dims()[1]);
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t k = 0; k < held; ++k)
                ones[static_cast<std::size_t>(i * length + k)] =
                    rows.integer(i * rows.dims()[1] + k) != *recipe.padding ? 1 : 0;
    } else {
        VIRIDIAN_TRY(const std::vector<std::int64_t> lengths, dataset_.lengths(recipe.column, draw.samples));
        if (length < 0) length = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
        ones.resize(static_cast<std::size_t>(count * length));
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t held = std::min(lengths[static_cast<std::size_t>(i)], length);
            std::fill_n(ones.begin() + i * length, held, std::uint8_t{1});
        }
    }
    const Tensor mask = Tensor::of<std::uint8_t>(
        recipe.type == graph::ElementType::boolean ? recipe.type : graph::ElementType::u8, {count, length},
        ones);
    return convert(mask, recipe.type, {}, recipe.options.input);
}

Result<Batch> Batches::batch(Draw draw) const {
    Batch batch;
    for (const Recipe& recipe : recipes_) {
        VIRIDIAN_TRY(Tensor tensor, recipe.mask ? make_mask(recipe, draw) : make_input(recipe, draw));
        batch.inputs.push_back(std::move(tensor));
    }
    batch.draw = std::move(draw);
    return batch;
}

}  // namespace viridian::data
