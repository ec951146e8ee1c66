#include <algorithm>
#include <cmath>

#include "viridian/base/units_text.hpp"
#include "viridian/data/batches.hpp"
#include "viridian/data/convert.hpp"

namespace viridian::data {
namespace {

using graph::Dims;
using graph::Shape;

std::string shape_text(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }
std::string shape_text(const Shape& shape) {
    std::string text;
    for (const graph::Dimension& dimension : shape)
        text += (text.empty() ? "" : ",") + (dimension.known()            ? std::to_string(dimension.value())
                                             : dimension.symbol().empty() ? "?"
                                                                          : dimension.symbol());
    return "[" + text + "]";
}

// The dimensions of one sample of the input; nothing if any shape fits.
std::optional<Shape> sample_shape(const graph::TensorType& type) {
    if (!type.shape || type.shape->empty()) return std::nullopt;
    return Shape(type.shape->begin() + 1, type.shape->end());
}

// True if every known dimension agrees.
bool agrees(const Dims& have, const Shape& want, std::size_t from) {
    if (have.size() != want.size()) return false;
    for (std::size_t i = from; i < have.size(); ++i)
        if (want[i].known() && want[i].value() != have[i]) return false;
    return true;
}

// A sample may also become one row, or one row a sample, or it gets or loses dimensions of 1: [28,28] fits
// [784] and [1,28,28], and [784] fits both.
std::optional<Dims> reshaped(const Dims& have, const Shape& want) {
    Dims target, small_have, small_want;
    for (const graph::Dimension& dimension : want) {
        if (!dimension.known()) return std::nullopt;
        target.push_back(dimension.value());
        if (dimension.value() != 1) small_want.push_back(dimension.value());
    }
    for (const std::int64_t dimension : have)
        if (dimension != 1) small_have.push_back(dimension);
    if (small_have == small_want) return target;
    const auto elements = graph::element_count(have), wanted = graph::element_count(target);
    const bool row = target.size() == 1 || have.size() == 1;
    if (row && elements.ok() && wanted.ok() && *elements == *wanted) return target;
    return std::nullopt;
}

Result<std::size_t> mapped_column(const Dataset& dataset, const std::string& input,
                                  const std::string& column) {
    if (!column.empty()) return dataset.find(column);
    auto found = dataset.find(input);
    if (found.ok()) return found;
    return fail(ErrorCode::missing_entry,
                fmt::format("map one with --input {}=COLUMN; the columns are {}", input,
                            column_list(dataset.column_names())),
                "`{}` has no column of the name of the model's input `{}`", dataset.name(), input);
}

Error type_mismatch(const Dataset& dataset, const Column& column, const ModelInput& input) {
    const bool numbers = graph::is_floating(column.type);
    std::string step = numbers ? "save the column as integers" : "map another column to it";
    if (numbers && input.name == "labels")
        step = "save the numbers of classes as integers, or choose a loss for numbers, such as --loss bce";
    return fail(ErrorCode::mismatch, std::move(step),
                "the column `{}` of `{}` holds {} and the model's input `{}` takes {}", column.name,
                dataset.name(), graph::name_of(column.type), input.name, graph::name_of(input.type.element));
}

Error shape_mismatch(const Dataset& dataset, const Column& column, const ModelInput& input, const Dims& have,
                     const Shape& want) {
    const bool turned = have.size() == 3 && agrees({have[2], have[0], have[1]}, want, 0);
    std::string step =
        turned ? "save its channels first" : "save it in this shape, or map another column to it";
    if (dataset.format() == Format::text && want.size() == 1 && want[0].known())
        step = fmt::format("choose --context {}", want[0].value());
    return fail(ErrorCode::mismatch, std::move(step),
                "a sample of the column `{}` of `{}` has the shape {} and the model's input `{}` takes {}",
                column.name, dataset.name(), shape_text(have), input.name, shape_text(want));
}

Result<void> check_images(const InputOptions& options, const Column& column, const Dims& have) {
    if (!(options.flip >= 0 && options.flip <= 1) || options.crop < 0 || options.crop > 4096)
        return fail(ErrorCode::invalid_argument,
                    "choose a probability from 0 to 1 and a margin from 0 to 4096",
                    "the input `{}` cannot be mirrored with probability {} and cut with a margin of {}",
                    options.input, options.flip, options.crop);
    if ((options.flip > 0 || options.crop > 0) && (have.size() < 2 || have.size() > 3 || column.varies))
        return fail(ErrorCode::invalid_argument, "leave out flip and crop for this input",
                    "the column `{}` has samples of shape {}, which are not images", column.name,
                    shape_text(have));
    return {};
}

Result<std::size_t> channels_of(const InputOptions& options, const ModelInput& input, const Column& column,
                                const Dims& have) {
    const bool any = options.scale != 1 || !options.mean.empty() || !options.deviation.empty();
    if (any && !graph::is_floating(input.type.element))
        return fail(ErrorCode::invalid_argument, "leave out scale, mean and deviation for this input",
                    "the model's input `{}` takes integers, which cannot be normalised", options.input);
    const std::size_t values = std::max(options.mean.size(), options.deviation.size());
    const std::int64_t channels = have.empty() ? 1 : have.front();
    for (const std::size_t given : {options.mean.size(), options.deviation.size()})
        if (given > 1 && (static_cast<std::int64_t>(given) != channels || column.varies))
            return fail(ErrorCode::invalid_argument, "give one value, or one for each channel",
                        "the normalisation of `{}` has {} values, and its samples have {}", options.input,
                        given, counted(column.varies ? 1 : channels, "channel"));
    const auto usable = [](double x) { return std::isfinite(x); };
    if (options.pad && !(std::abs(*options.pad) < 0x1p53))
        return fail(ErrorCode::invalid_argument, "give a number that the input's type holds",
                    "the input `{}` cannot be padded with {}", options.input, *options.pad);
    if (!std::ranges::all_of(options.mean, usable) || !usable(options.scale) ||
        !std::ranges::all_of(options.deviation, [&](double x) { return usable(x) && x != 0; }))
        return fail(ErrorCode::invalid_argument, "give finite numbers, and deviations other than 0",
                    "the input `{}` cannot be normalised by these numbers", options.input);
    return values > 1 ? values : 1;
}

}  // namespace

Result<Batches::Recipe> Batches::plan(const Dataset& dataset, const ModelInput& input,
                                      const BatchOptions& options) {
    Recipe recipe;
    recipe.options.input = input.name;
    for (const InputOptions& given : options.inputs)
        if (given.input == input.name) recipe.options = given;
    const InputOptions& chosen = recipe.options;
    VIRIDIAN_TRY(recipe.column, mapped_column(dataset, input.name, chosen.column));
    const Column& column = dataset.column(recipe.column);
    recipe.type = input.type.element;
    if (!convertible(column.type, recipe.type) || (chosen.classes > 0 && graph::is_floating(column.type)))
        return type_mismatch(dataset, column, input);
    Dims have = column.dims;
    if (chosen.channels_last) {
        if (have.size() != 3 || column.varies)
            return fail(ErrorCode::invalid_argument, "leave out the option for this input",
                        "the column `{}` has samples of shape {}, which have no last channels", column.name,
                        shape_text(have));
        have = {have[2], have[0], have[1]};
    }
    VIRIDIAN_TRY(check_images(chosen, column, have));
    VIRIDIAN_TRY(recipe.channels, channels_of(chosen, input, column, have));
    const std::optional<Shape> want = sample_shape(input.type);
    recipe.dims = have;
    if (column.varies) {
        if (want && !agrees(have, *want, 1)) return shape_mismatch(dataset, column, input, have, *want);
        recipe.dims.front() = want && want->front().known() ? want->front().value() : -1;
    } else if (want && !agrees(have, *want, 0)) {
        const auto target = reshaped(have, *want);
        if (!target) return shape_mismatch(dataset, column, input, have, *want);
        recipe.dims = *target;
    }
    return recipe;
}

Result<Batches::Recipe> Batches::plan_mask(const Dataset& dataset, const ModelInput& input,
                                           const MaskOptions& mask) {
    Recipe recipe;
    recipe.mask = true;
    recipe.options.input = input.name;
    recipe.padding = mask.padding;
    recipe.type = input.type.element;
    VIRIDIAN_TRY(recipe.column, dataset.find(mask.column));
    const Column& column = dataset.column(recipe.column);
    const std::optional<Shape> want = sample_shape(input.type);
    if (column.dims.empty() ||
        (mask.padding && (column.dims.size() != 1 || graph::is_floating(column.type))) ||
        (!mask.padding && !column.varies))
        return fail(
            ErrorCode::invalid_argument, "name a column of rows whose lengths differ, or the padding's value",
            "the column `{}` of `{}` does not say where its rows are padded", column.name, dataset.name());
    const Dims rows = {column.dims.front()};
    if (want && !agrees(rows, *want, column.varies ? 1 : 0))
        return shape_mismatch(dataset, column, input, rows, *want);
    recipe.dims = {want && want->front().known() ? want->front().value() : -1};
    return recipe;
}

Result<Batches> Batches::make(Dataset dataset, std::vector<ModelInput> inputs, const BatchOptions& options) {
    Batches batches;
    const auto known = [&](const std::string& name) -> Result<void> {
        std::string list;
        for (const ModelInput& input : inputs) {
            if (input.name == name) return {};
            list += (list.empty() ? "`" : ", `") + input.name + "`";
        }
        return fail(ErrorCode::missing_entry, fmt::format("name one of its inputs: {}", list),
                    "the model has no input `{}`", name);
    };
    for (const InputOptions& given : options.inputs) VIRIDIAN_TRY(known(given.input));
    for (const MaskOptions& mask : options.masks) VIRIDIAN_TRY(known(mask.input));
    for (const ModelInput& input : inputs) {
        const auto mask = std::ranges::find(options.masks, input.name, &MaskOptions::input);
        VIRIDIAN_TRY(Recipe recipe, mask != options.masks.end() ? plan_mask(dataset, input, *mask)
                                                                : plan(dataset, input, options));
        batches.recipes_.push_back(std::move(recipe));
    }
    batches.augment_ = options.augment;
    batches.seed_ = options.seed;
    batches.inputs_ = std::move(inputs);
    batches.dataset_ = std::move(dataset);
    return batches;
}

}  // namespace viridian::data
