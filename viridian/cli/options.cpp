#include "viridian/cli/options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "viridian/cli/arguments.hpp"

namespace viridian::cli {

namespace {

// `complaint(text)` says what is wrong with the value, and is empty if nothing is.
template <class Complaint>
Constraint constraint(const std::string& description, const Complaint& complaint) {
    return Constraint(std::make_shared<CLI::Validator>(complaint, description));
}

template <class T>
std::optional<T> number_in(const std::string& text) {
    T value{};
    return CLI::detail::lexical_cast(text, value) ? std::optional(value) : std::nullopt;
}

// "TEXT:a|b|c REQUIRED": the kind of the value, and the words if it takes only these.
OptionText text_of(const CLI::Option& option) {
    OptionText out;
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
    if (out.names.empty()) out.argument = option.get_name();
    out.description = option.get_description();
    out.required = option.get_required();
    if (option.get_items_expected_max() == 0) return out;  // a flag
    const std::string kind = option.get_type_name();
    const std::size_t colon = kind.find(':');
    out.value = kind.substr(0, colon);
    if (colon == std::string::npos || kind.find('|') == std::string::npos) return out;
    for (std::size_t at = colon + 1; at <= kind.size();) {
        const std::size_t end = std::min(kind.find('|', at), kind.size());
        out.choices.push_back(kind.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

// A subcommand takes the flags that every command has (subcommands.cpp) too, though its --help does not list
// them.
CommandTree tree_of(const CLI::App& app) {
    CommandTree out{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options()) out.options.push_back(text_of(*option));
    if (const CLI::App* above = app.get_parent(); above != nullptr && above->get_parent() != nullptr)
        for (const CLI::Option* option : above->get_options())
            if (const OptionText text = text_of(*option);
                !text.names.empty() && is_for_every_command(text.names.back()))
                out.options.push_back(text);
    for (const CLI::App* below : app.get_subcommands({})) out.below.push_back(tree_of(*below));
    return out;
}

}  // namespace

template <class T>
Constraint in_range(T low, T high) {
    return constraint(fmt::format("{} to {}", low, high), [=](const std::string& text) {
        const auto value = number_in<T>(text);
        return value && *value >= low && *value <= high
                   ? std::string()
                   : fmt::format("`{}` is not a number from {} to {}", text, low, high);
    });
}
template Constraint in_range<int>(int, int);
template Constraint in_range<std::int64_t>(std::int64_t, std::int64_t);
template Constraint in_range<double>(double, double);

Constraint one_of(const std::vector<std::string>& words) {
    return constraint(fmt::format("{}", fmt::join(words, "|")), [=](const std::string& text) {
        return std::ranges::find(words, text) != words.end()
                   ? std::string()
                   : fmt::format("`{}` is not one of {}", text, fmt::join(words, ", "));
    });
}

Constraint positive_number() {
    return constraint("above 0", [](const std::string& text) {
        const auto value = number_in<double>(text);
        if (!value || !(*value > 0)) return fmt::format("`{}` is no number above 0", text);
        return std::isfinite(*value) ? std::string() : fmt::format("`{}` is not finite", text);
    });
}

Option Option::required(bool needed) { return Option(option_->required(needed)); }
Option Option::check(const Constraint& constraint) { return Option(option_->check(constraint.validator())); }
Option Option::capture_default_str() { return Option(option_->capture_default_str()); }
Option Option::delimiter(char separator) { return Option(option_->delimiter(separator)); }
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }
Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }
Option Option::description(const std::string& text) { return Option(option_->description(text)); }
Option Option::needs(const std::string& other) { return Option(option_->needs(other)); }
std::size_t Option::count() const { return option_->count(); }

template <class T>
Option App::add_option(const std::string& names, T& variable, const std::string& description) {
    CLI::Option* option = app_->add_option(names, variable, description);
    if constexpr (std::is_same_v<T, std::uint64_t>) {  // CLI11 would take -1 for the largest number
        const auto complaint = [](const std::string& text) {
            return text.find('-') != std::string::npos
                       ? fmt::format("`{}` is not a number of 0 or more", text)
                       : std::string();
        };
        option->check(constraint("", complaint).validator());
    }
    return Option(option);
}
template Option App::add_option(const std::string&, std::string&, const std::string&);
template Option App::add_option(const std::string&, int&, const std::string&);
template Option App::add_option(const std::string&, std::int64_t&, const std::string&);
template Option App::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option App::add_option(const std::string&, double&, const std::string&);
template Option App::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option App::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option App::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option App::add_option(const std::string&, std::vector<double>&, const std::string&);

Option App::add_flag(const std::string& names, bool& variable, const std::string& description) {
    return Option(app_->add_flag(names, variable, description));
}
App App::add_subcommand(const std::string& name, const std::string& summary) {
    return App(app_->add_subcommand(name, summary));
}
Option App::get_option(const std::string& name) const { return Option(app_->get_option(name)); }
CommandTree App::tree() const {
    const CLI::App* root = app_;
    while (root->get_parent() != nullptr) root = root->get_parent();
    return tree_of(*root);
}
void App::footer(const std::string& text) { app_->footer(text); }
void App::callback(const std::function<void()>& action) { app_->callback(action); }
void App::require_subcommand(std::size_t least, std::size_t most) { app_->require_subcommand(least, most); }
void App::fallthrough() { app_->fallthrough(); }
void App::positionals_at_end() { app_->positionals_at_end(); }

}  // namespace viridian::cli
