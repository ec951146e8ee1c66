#include <algorithm>
#include <charconv>
#include <cmath>

#include "viridian/train/schedule/schedule.hpp"

namespace viridian::train {
namespace {

using OptionKind = ScheduleOption::Kind;

template <class Rows>
std::string names_of(const Rows& rows) {
    std::string names;
    for (const auto& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

// Splits at every `separator`; one part without any.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + 1);
    }
    parts.push_back(text);
    return parts;
}

Result<Amount> parse_amount(const ScheduleOption& option, std::string_view text) {
    Amount amount;
    const bool is_length = option.kind != OptionKind::number;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), amount.value);
    std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    if (is_length && rest == "e") {
        amount.epochs = true;
        rest = {};
    }
    const bool in_range = amount.value >= option.least && amount.value <= option.most;  // NaN is not
    const bool whole = !is_length || amount.epochs || amount.value == std::floor(amount.value);
    if (fault == std::errc{} && rest.empty() && in_range && whole) return amount;
    if (is_length)
        return fail(ErrorCode::invalid_argument, "write steps such as 1000, or epochs such as 5e",
                    "`{}={}` is not a length", option.name, text);
    return fail(ErrorCode::invalid_argument,
                fmt::format("write a number from {} to {}", option.least, option.most),
                "`{}={}` is not a value of that option", option.name, text);
}

Result<std::vector<Amount>> parse_amounts(const ScheduleOption& option, std::string_view text) {
    std::vector<Amount> amounts;
    const auto parts = option.kind == OptionKind::lengths ? split(text, '/') : std::vector{text};
    for (const std::string_view part : parts) {
        VIRIDIAN_TRY(const Amount amount, parse_amount(option, part));
        amounts.push_back(amount);
    }
    return amounts;
}

Result<void> set_option(Schedule& schedule, std::string_view text) {
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const auto& options = schedule.row->options;
    const auto option = std::ranges::find(options, name, &ScheduleOption::name);
    if (equals == std::string_view::npos || option == options.end())
        return fail(ErrorCode::invalid_argument,
                    fmt::format("its options are {}, as in {}", names_of(options), schedule.row->example),
                    "the schedule `{}` has no option `{}`", schedule.row->name, text);
    auto& values = schedule.values[static_cast<std::size_t>(option - options.begin())];
    if (!values.empty())
        return fail(ErrorCode::invalid_argument, "write it once", "the schedule has the option `{}` twice",
                    name);
    VIRIDIAN_TRY(values, parse_amounts(*option, text.substr(equals + 1)));
    return {};
}

}  // namespace

Result<Schedule> parse_schedule(std::string_view text) {
    const auto colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const auto rows = schedule_rows();
    const auto row = std::ranges::find(rows, name, &ScheduleRow::name);
    if (row == rows.end())
        return fail(ErrorCode::invalid_argument, fmt::format("choose one of {}", names_of(rows)),
                    "`{}` is not a learning-rate schedule", name);
    Schedule schedule{&*row, {}};
    schedule.values.resize(row->options.size());
    if (colon != std::string_view::npos)
        for (const std::string_view option : split(text.substr(colon + 1), ','))
            VIRIDIAN_TRY(set_option(schedule, option));
    for (std::size_t i = 0; i < row->options.size(); ++i) {
        const ScheduleOption& option = row->options[i];
        if (!schedule.values[i].empty()) continue;
        if (option.required)
            return fail(ErrorCode::invalid_argument, fmt::format("write it as in {}", row->example),
                        "the schedule `{}` needs the option `{}`", row->name, option.name);
        // A length of -1 stands for one epoch.
        schedule.values[i] = {option.otherwise < 0 ? Amount{1, true} : Amount{option.otherwise, false}};
    }
    return schedule;
}

std::string Schedule::text() const {
    std::string text(row->name);
    for (std::size_t i = 0; i < values.size(); ++i) {
        text += fmt::format("{}{}=", i == 0 ? ":" : ",", row->options[i].name);
        for (std::size_t k = 0; k < values[i].size(); ++k)
            text +=
                fmt::format("{}{}{}", k == 0 ? "" : "/", values[i][k].value, values[i][k].epochs ? "e" : "");
    }
    return text;
}

}  // namespace viridian::train
