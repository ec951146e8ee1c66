#include "viridian/cli/train/data_options.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace viridian::cli {
namespace {

constexpr std::string_view label_names[] = {"labels", "label", "y", "targets", "target", "class"};

// What an option of the form INPUT=WHAT says is wrong if the model has no such input.
Result<void> check_input(const std::string& name, const std::vector<data::ModelInput>& inputs) {
    std::vector<std::string> names;
    for (const data::ModelInput& input : inputs) {
        if (input.name == name) return {};
        names.push_back(fmt::format("`{}`", input.name));
    }
    return fail(ErrorCode::missing_entry, fmt::format("name one of its inputs: {}", fmt::join(names, ", ")),
                "the model has no input `{}`", name);
}

// The column of an input that no option maps; empty if there is none.
std::string column_for(const std::string& input, const std::vector<std::string>& columns,
                       const std::vector<std::string>& taken, std::size_t others) {
    if (std::ranges::find(columns, input) != columns.end()) return input;
    if (input == "labels") {
        for (const std::string_view name : label_names)
            if (std::ranges::find(columns, name) != columns.end()) return std::string(name);
        return "";
    }
    std::vector<std::string> left;
    for (const std::string& column : columns)
        if (std::ranges::find(taken, column) == taken.end() &&
            std::ranges::find(label_names, column) == std::end(label_names))
            left.push_back(column);
    return others == 1 && left.size() == 1 ? left[0] : "";
}

// A table without a column of labels has one column for each number.
Error no_column(const std::string& input, const data::Dataset& samples) {
    const bool table = samples.format() == data::Format::csv;
    return fail(ErrorCode::missing_entry,
                fmt::format("name its column with --input {}=COLUMN{}; {} has {}", input,
                            table ? ", or the column of the labels with --label-column" : "", samples.name(),
                            data::column_list(samples.column_names())),
                "no column of the data is meant for the input `{}`", input);
}

// An option of the form INPUT=WHAT.
struct InputOption {
    std::string input, what;
};
Result<InputOption> parse_given(const char* option, const char* example, const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        return fail(ErrorCode::invalid_argument, fmt::format("write {} {}", option, example),
                    "`{}` is not of the form that {} takes", text, option);
    return InputOption{text.substr(0, equals), text.substr(equals + 1)};
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return fault == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Result<data::MaskOptions> parse_mask(const std::string& text, const std::vector<std::string>& columns) {
    VIRIDIAN_TRY(const InputOption given, parse_given("--mask", "attention_mask=tokens", text));
    data::MaskOptions mask{.input = given.input, .column = given.what, .padding = {}};
    const auto colon = given.what.rfind(':');
    if (colon == std::string::npos || std::ranges::find(columns, given.what) != columns.end()) return mask;
    mask.column = given.what.substr(0, colon);
    mask.padding = parse_number<std::int64_t>(std::string_view(given.what).substr(colon + 1));
    if (!mask.padding)
        return fail(ErrorCode::invalid_argument, "write --mask attention_mask=tokens:0",
                    "the padding of `{}` is not a whole number", text);
    return mask;
}

bool takes_numbers(const data::ModelInput& input) {
    return is_floating(input.type.element) && input.name != "labels";
}

// Options that change rows or numbers would do nothing if there are none. Another file may have some, so
// that nothing is said if the evaluation has a file of its own.
Result<void> check_used(const DataChoice& choice, const data::Dataset& samples,
                        const std::vector<data::ModelInput>& inputs, const data::BatchOptions& options) {
    const bool changes = choice.scale != 1 || !choice.mean.empty() || !choice.deviation.empty() ||
                         choice.flip > 0 || choice.crop > 0;
    if (changes && std::ranges::none_of(inputs, takes_numbers))
        return fail(
            ErrorCode::invalid_argument, "leave them out",
            "--scale, --mean, --std, --flip and --crop change floating-point inputs, and the model has "
            "none");
    if (!choice.evaluation.empty()) return {};
    bool varies = false;
    for (const data::InputOptions& input : options.inputs) {
        VIRIDIAN_TRY(const std::size_t column, samples.find(input.column));
        varies = varies || samples.column(column).varies;
        if (input.pad && !samples.column(column).varies)
            return fail(
                ErrorCode::invalid_argument, "leave it out",
                "--pad fills up shorter rows, and all rows of `{}`, which `{}` takes, are equally long",
                input.column, input.input);
    }
    if (choice.truncate && !varies)
        return fail(ErrorCode::invalid_argument, "leave it out",
                    "--truncate cuts longer rows, and the rows of each column are equally long");
    return {};
}

}  // namespace

void add_data_options(App app, DataChoice& choice) {
    app.add_option("--data", choice.path,
                   "Samples: .npz, .npy, IDX, CSV, a text file, a folder of arrays (docs/data.md)")
        .required();
    app.add_option("--eval", choice.evaluation, "Samples for evaluation, as --data");
    app.add_option("--eval-share", choice.evaluation_share, "Share of --data that is kept for evaluation")
        .check(in_range(0.0, 0.9));
    app.add_option("--input", choice.inputs, "INPUT=COLUMN: which column an input takes");
    app.add_option("--label-column", choice.open.csv.label, "CSV: the column of the labels");
    app.add_option(
           "--context", choice.open.text.context,
           "Text: characters that the network sees at once (default: as many as the model takes, or 64)")
        .check(positive_number());
    app.add_flag("--bytes", choice.text_bytes, "Text: train on bytes instead of characters");
    app.add_option(
        "--mask", choice.masks,
        "INPUT=COLUMN: the input is 1 where a row of the column has elements, 0 where it is padded; "
        "INPUT=COLUMN:VALUE: 0 where it holds this value");
    app.add_option("--pad", choice.pads, "INPUT=VALUE: what fills up rows that are shorter (default: 0)");
    app.add_flag("--truncate", choice.truncate, "Cut rows that are longer than their input");
    app.add_option("--scale", choice.scale, "Multiplies the input's numbers, as in 0.00392 for bytes");
    app.add_option("--mean", choice.mean, "Subtracted after --scale; one number, or one for each channel")
        .delimiter(',');
    app.add_option("--std", choice.deviation, "Divides after --mean; one number, or one for each channel")
        .delimiter(',');
    app.add_option("--flip", choice.flip, "Probability of mirroring an image").check(in_range(0.0, 1.0));
    app.add_option("--crop", choice.crop,
                   "Pad images with N zeros on each side, then cut out a random part of the original size")
        .check(in_range<std::int64_t>(0, 1 << 16));
}

Result<data::BatchOptions> batch_options(const DataChoice& choice, const data::Dataset& samples,
                                         const std::vector<data::ModelInput>& inputs, std::uint64_t seed) {
    const std::vector<std::string> columns = samples.column_names();
    std::map<std::string, std::string> given;
    std::vector<std::string> taken;
    if (!choice.open.csv.label.empty()) {
        given["labels"] = choice.open.csv.label;
        taken.push_back(choice.open.csv.label);
    }
    for (const std::string& text : choice.inputs) {
        VIRIDIAN_TRY(const InputOption one, parse_given("--input", "images=x", text));
        VIRIDIAN_TRY(check_input(one.input, inputs));
        given[one.input] = one.what;
        taken.push_back(one.what);
    }
    std::map<std::string, double> pads;
    for (const std::string& text : choice.pads) {
        VIRIDIAN_TRY(const InputOption one, parse_given("--pad", "tokens=0", text));
        const auto value = parse_number<double>(one.what);
        if (!value || std::ranges::find(inputs, one.input, &data::ModelInput::name) == inputs.end())
            return fail(ErrorCode::invalid_argument, "write --pad tokens=0, with an input of the model",
                        "`{}` does not say what an input is padded with", text);
        pads[one.input] = *value;
    }
    data::BatchOptions options;
    for (const std::string& text : choice.masks) {
        VIRIDIAN_TRY(data::MaskOptions mask, parse_mask(text, columns));
        options.masks.push_back(std::move(mask));
    }
    const auto masked = [&](const data::ModelInput& input) {
        return std::ranges::find(options.masks, input.name, &data::MaskOptions::input) != options.masks.end();
    };
    const auto others = static_cast<std::size_t>(std::ranges::count_if(inputs, [&](const auto& input) {
        return input.name != "labels" && !given.contains(input.name) && !masked(input);
    }));
    options.seed = seed;
    for (const data::ModelInput& input : inputs) {
        if (masked(input)) continue;
        data::InputOptions one;
        one.input = input.name;
        one.column =
            given.contains(input.name) ? given[input.name] : column_for(input.name, columns, taken, others);
        if (one.column.empty()) return no_column(input.name, samples);
        if (pads.contains(input.name)) one.pad = pads[input.name];
        one.truncate = choice.truncate;
        if (takes_numbers(input)) {
            one.scale = choice.scale;
            one.mean = choice.mean;
            one.deviation = choice.deviation;
            one.flip = choice.flip;
            one.crop = choice.crop;
        }
        options.inputs.push_back(std::move(one));
    }
    VIRIDIAN_TRY(check_used(choice, samples, inputs, options));
    return options;
}

}  // namespace viridian::cli
