#include "viridian/cli/arguments.hpp"

#include <algorithm>
#include <array>

#include "viridian/cli/nearest_name.hpp"

namespace viridian::cli {
namespace {

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// What a mistyped option was meant to be: the nearest name; for one letter the first name that begins with
// it.
std::optional<std::string> nearest_option(std::string_view word, std::span<const std::string> options) {
    if (word.size() > 2) return nearest_name(word, options);
    const auto begins = [&](const std::string& name) { return name.starts_with(fmt::format("-{}", word)); };
    const auto found = std::ranges::find_if(options, begins);
    return found == options.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

bool is_for_every_command(const std::string& word) {
    static constexpr std::array<std::string_view, 5> words = {"--json", "-q", "--quiet", "-v", "--verbose"};
    return std::ranges::find(words, word) != words.end();
}

std::vector<std::string> arranged(std::span<const char* const> words) {
    std::vector<std::string> list(words.begin(), words.end());
    const auto command = std::ranges::find_if(list, [](const std::string& word) { return !is_option(word); });
    if (command == list.end()) return list;
    const std::string first = *command;
    // Those that every command takes, in their order, directly behind the command.
    const auto rest = std::stable_partition(
        list.begin(), command, [](const std::string& word) { return !is_for_every_command(word); });
    std::rotate(rest, command, command + 1);  // the command is at `rest` now
    if (first == "version") return {"--version"};
    if (first != "help") return list;
    auto word = list.erase(rest);
    while (word != list.end() && *word == first) word = list.erase(word);
    if (!std::ranges::all_of(list, is_for_every_command)) list.push_back("--help");
    return list;
}

bool wants_json(std::span<const std::string> words) {
    const auto end = std::ranges::find(words, "--");
    return std::find(words.begin(), end, "--json") != end;
}

Error unknown_command(std::string_view word, std::span<const std::string> commands) {
    for (const std::string_view suffix : {".onnx", ".plan.json"})
        if (word.ends_with(suffix))
            return fail(ErrorCode::invalid_argument, fmt::format("to run it: `viridian run {}`", word),
                        "`{}` is a file, and a command comes first", word);
    const auto meant = nearest_name(word, commands);
    return fail(ErrorCode::invalid_argument,
                meant ? fmt::format("did you mean `viridian {}`?", *meant) : "see `viridian --help`",
                "there is no command `{}`", word);
}

Error unknown_words(std::string_view command, std::span<const std::string> words,
                    std::span<const std::string> options) {
    const std::string program = fmt::format("viridian{}{}", command.empty() ? "" : " ", command);
    if (const auto option = std::ranges::find_if(words, is_option); option != words.end()) {
        const std::string name = option->substr(0, option->find('='));
        const auto meant = nearest_option(name, options);
        return fail(
            ErrorCode::invalid_argument,
            meant ? fmt::format("did you mean `{}`?", *meant) : fmt::format("see `{} --help`", program),
            "`{}` has no option `{}`", program, name);
    }
    return fail(ErrorCode::invalid_argument, fmt::format("see `{} --help`", program),
                "`{}` does not take: `{}`", program, fmt::join(words, "`, `"));
}

}  // namespace viridian::cli
