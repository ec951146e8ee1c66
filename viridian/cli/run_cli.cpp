#include "viridian/cli/run_cli.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "viridian/cli/commands.hpp"
#include "viridian/cli/nearest_name.hpp"

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

int report(const Error& error, bool json) {
    if (json) {
        const Json object = {
            {"error",
             {{"code", name_of(error.code)}, {"message", error.message}, {"next_step", error.next_step}}}};
        fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
    }
    fmt::print(stderr, "viridian: {}\n", error.text());
    return exit_code(error.kind());
}

int report(const Answer& answer, bool json) {
    if (json)
        fmt::print("{}\n", answer.json.dump(2, ' ', false, Json::error_handler_t::replace));
    else
        fmt::print("{}", answer.text);
    return answer.exit_code;
}

Error wrong_arguments(const CLI::App& app, const CLI::ParseError& error, std::span<const char* const> words) {
    const auto used = app.get_subcommands();
    if (!used.empty())
        return fail(ErrorCode::invalid_argument, fmt::format("see `viridian {} --help`", used[0]->get_name()),
                    "{}", error.what());
    const auto word = std::find_if(words.begin(), words.end(), [](const char* w) { return w[0] != '-'; });
    if (word == words.end())
        return fail(ErrorCode::invalid_argument, "see `viridian --help`", "{}", error.what());
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    const auto meant = nearest_name(*word, names);
    return fail(ErrorCode::invalid_argument,
                meant ? fmt::format("did you mean `viridian {}`?", *meant) : "see `viridian --help`",
                "there is no command `{}`", *word);
}

// `--dim N=2 MODEL`: an option takes one value each time it is given; lists without a name stay lists.
void take_one_value_each(CLI::App& app) {
    for (CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_positional(); }))
        option->allow_extra_args(false);
    for (CLI::App* below : app.get_subcommands({})) take_one_value_each(*below);
}

Result<Answer> run_guarded(const std::function<Result<Answer>()>& action) {
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
    CLI::App app(
        "Viridian measures where a neural network's energy goes, and lowers it while the outputs stay the "
        "same.",
        "viridian");
    app.require_subcommand(1);
    app.set_version_flag("--version", VIRIDIAN_VERSION);

    bool json = false;
    std::function<Result<Answer>()> chosen;
    for (const Command& command : commands()) {
        CLI::App* subcommand = app.add_subcommand(command.name, command.summary);
        subcommand->add_flag("--json", json, "One JSON object on stdout, nothing else there");
        auto action = command.define(*subcommand);
        take_one_value_each(*subcommand);
        const std::string more = subcommand->get_footer();
        subcommand->footer("Example:\n  " + command.example + (more.empty() ? "" : "\n\n") + more);
        subcommand->callback([&chosen, action = std::move(action)] { chosen = action; });
    }
    try {
        app.parse(count, arguments);
    } catch (const CLI::Success& success) {  // --help, --version
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        const std::span words(arguments + 1, static_cast<size_t>(std::max(count - 1, 0)));
        return report(wrong_arguments(app, error, words), json);
    }
    const Result<Answer> answer = run_guarded(chosen);
    const int code = answer.ok() ? report(*answer, json) : report(answer.error(), json);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return report(
            fail(ErrorCode::file_not_writable, "check where the output goes", "cannot write to stdout"),
            false);
    return code;
}

}  // namespace viridian::cli
