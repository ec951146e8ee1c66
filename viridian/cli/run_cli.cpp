#include "viridian/cli/run_cli.hpp"

#include <sys/resource.h>

#include <CLI/CLI.hpp>

#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "viridian/cli/arguments.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/overview.hpp"
#include "viridian/cli/progress.hpp"

namespace viridian::cli {
namespace {

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::user:
            return 1;
        case ErrorKind::machine:
            return 2;
        case ErrorKind::bug:
            return 3;
    }
    return 3;
}

int print(const Error& error, bool json) {
    if (json) {
        const Json object = {
            {"error",
             {{"code", name_of(error.code)}, {"message", error.message}, {"next_step", error.next_step}}}};
        fmt::print("{}\n", json_dump(object, 2));
    }
    fmt::print(stderr, "viridian: {}\n", error.text());
    return exit_code(error.kind());
}

int print(const Answer& answer, bool json) {
    if (json)
        fmt::print("{}\n", json_dump(answer.json, 2));
    else
        fmt::print("{}", answer.text);
    return answer.exit_code;
}

// The command as far as it was understood, "pipeline plan", and every option that may follow it.
struct Understood {
    const CLI::App* command;
    std::string name;
    std::vector<std::string> options;
};

void add_options(const CLI::App& app, std::vector<std::string>& options) {
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
        for (const std::string& name : option->get_snames()) options.push_back("-" + name);
    }
}

Understood understood(const CLI::App& app) {
    Understood result{&app, "", {}};
    add_options(app, result.options);
    while (!result.command->get_subcommands().empty()) {
        result.command = result.command->get_subcommands()[0];
        result.name += (result.name.empty() ? "" : " ") + result.command->get_name();
        add_options(*result.command, result.options);
    }
    return result;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    return names;
}

Error wrong_arguments(const CLI::App& app, const CLI::ParseError& error) {
    const Understood found = understood(app);
    const std::vector<std::string> below = names_of(found.command->get_subcommands({}));
    std::vector<std::string> left = app.remaining(true);
    std::erase(left, "--");
    const auto dashed = [](const std::string& word) { return word.starts_with('-'); };
    const auto word = std::ranges::find_if_not(left, dashed);
    if (found.name.empty() && word != left.end()) {
        std::vector<std::string> commands = below;
        commands.insert(commands.end(), {"help", "version"});
        return unknown_command(*word, commands);
    }
    if (std::ranges::any_of(left, dashed) ||
        (!left.empty() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr))
        return unknown_words(found.name, left, found.options);
    const std::string next_step =
        fmt::format("see `viridian {}{}--help`", found.name, found.name.empty() ? "" : " ");
    if (found.command->get_require_subcommand_min() > 0 && found.command->get_subcommands().empty())
        return fail(ErrorCode::invalid_argument, next_step, "`viridian {}` needs one of: {}", found.name,
                    fmt::join(below, ", "));
    return fail(ErrorCode::invalid_argument, next_step, "{}", error.what());
}

// `--dim N=2 MODEL`: an option takes one value each time it is given; lists without a name stay lists.
void take_one_value_each(CLI::App& app) {
    for (CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_positional(); }))
        option->allow_extra_args(false);
    for (CLI::App* below : app.get_subcommands({})) take_one_value_each(*below);
}

// CLI11 lists the options that one excludes by their addresses; here they are listed by name, so that the
// help of a command is the same in every run.
class StableFormatter : public CLI::Formatter {
  public:
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text = CLI::Formatter::make_option_opts(option);
        const std::size_t list = text.find(" Excludes:");
        if (list == std::string::npos) return text;
        std::vector<std::string> names;
        for (const CLI::Option* other : option->get_excludes()) names.push_back(other->get_name());
        std::ranges::sort(names);
        return fmt::format("{} Excludes: {}", text.substr(0, list), fmt::join(names, " "));
    }
};

// The flags that every command has.
void add_common_flags(CLI::App& command, bool& json, bool& quiet, bool& verbose) {
    command.add_flag("--json", json, "One JSON object on stdout, nothing else there");
    CLI::Option* const less = command.add_flag("-q,--quiet", quiet, "No progress and no notes on stderr");
    command
        .add_flag("-v,--verbose", verbose,
                  "Show progress also if stderr is no terminal, and time and memory at the end")
        ->excludes(less);
}

void print_cost(std::chrono::steady_clock::duration time) {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    fmt::print(stderr, "took {:.3g} s, {} at most\n", std::chrono::duration<double>(time).count(),
               size_text(Bytes(std::int64_t{1024} * used.ru_maxrss)));
}

Result<Answer> run_guarded(const Action& action) {
    constexpr auto next_step = "please report it with the command line and the input";
    try {
        return action();
    } catch (const BrokenInvariant& broken) {
        return fail(ErrorCode::broken_invariant, next_step,
                    "bug in viridian: the invariant `{}` does not hold", broken.name);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "use a smaller model or batch", "there is not enough memory");
    } catch (const std::exception& exception) {
        return fail(ErrorCode::broken_invariant, next_step, "bug in viridian: {}", exception.what());
    }
}

}  // namespace

int run_cli(int count, const char* const* arguments) {
    const std::vector<CommandGroup> groups = command_groups();
    const std::vector<std::string> words =
        arranged(std::span(arguments, static_cast<std::size_t>(count)).subspan(count > 0 ? 1 : 0));
    const bool json = wants_json(words);
    if (std::ranges::all_of(words, is_for_every_command))
        return print(Answer{overview_json(groups), overview_text(groups), 0}, json);

    CLI::App app(
        "Measures where a neural network's energy goes, and lowers it while the outputs stay the same",
        "viridian");
    app.formatter(std::make_shared<StableFormatter>());
    app.require_subcommand(1);
    app.set_version_flag("--version", version_text);
    bool given = false;  // `json` tells
    bool quiet = false, verbose = false;
    app.add_flag("--json", given, "One JSON object on stdout, nothing else there");
    Action chosen;
    for (const CommandGroup& group : groups)
        for (const Command& command : group.commands) {
            CLI::App* subcommand = app.add_subcommand(command.name, command.summary);
            add_common_flags(*subcommand, given, quiet, verbose);
            Action action = command.define(App(subcommand));
            take_one_value_each(*subcommand);
            const std::string more = subcommand->get_footer();
            subcommand->footer("Example:\n  " + command.example + (more.empty() ? "" : "\n\n") + more);
            subcommand->callback([&chosen, action = std::move(action)] { chosen = action; });
        }
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::CallForHelp& help) {
        const bool whole = app.get_subcommands().empty();
        if (whole && app.remaining_size() > 0) return print(wrong_arguments(app, help), json);
        fmt::print("{}", whole ? overview_text(groups) : app.help());
        return 0;
    } catch (const CLI::Success& success) {  // --version
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        return print(wrong_arguments(app, error), json);
    }
    set_verbosity(quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal);
    const auto begin = std::chrono::steady_clock::now();
    const Result<Answer> answer = run_guarded(chosen);
    if (verbose) print_cost(std::chrono::steady_clock::now() - begin);
    const int code = answer.ok() ? print(*answer, json) : print(answer.error(), json);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return print(
            fail(ErrorCode::file_not_writable, "check where the output goes", "cannot write to stdout"),
            false);
    return code;
}

}  // namespace viridian::cli
