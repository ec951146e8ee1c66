#include "viridian/cli/shell/completion.hpp"

#include <functional>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian::cli {
namespace {

using Visit = std::function<void(const CommandTree& command, const std::string& path)>;

// Calls `visit` for the program and each command; the path of `pipeline plan` is "/pipeline/plan".
void each(const CommandTree& command, const std::string& path, const Visit& visit) {
    visit(command, path);
    for (const CommandTree& one : command.below) each(one, path + "/" + one.name, visit);
}

// In single quotes, as bash and zsh read them.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string all_options(const CommandTree& command) {
    std::vector<std::string> names;
    for (const OptionText& option : command.options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return joined(names);
}

std::string all_commands(const CommandTree& command) {
    std::vector<std::string> names;
    for (const CommandTree& one : command.below) names.push_back(one.name);
    return joined(names);
}

// The pattern of a `case` for the paths of all commands: /account|/account/diff|...
std::string path_pattern(const CommandTree& root) {
    std::vector<std::string> paths;
    each(root, "", [&](const CommandTree&, const std::string& path) {
        if (!path.empty()) paths.push_back(path);
    });
    return fmt::format("{}", fmt::join(paths, "|"));
}

}  // namespace

std::string bash_completion(const CommandTree& root) {
    std::string text = fmt::format(
        "# Completion of viridian's command line for bash; `viridian completion bash` writes it.\n"
        "_viridian() {{\n"
        "    local path= word at=1 options= commands= choices=\n"
        "    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
        "    COMPREPLY=()\n"
        "    while [ $at -lt $COMP_CWORD ]; do\n"
        "        word=${{COMP_WORDS[at]}}\n"
        "        [ \"$word\" = -- ] && return\n"
        "        case \"$path/$word\" in {}) path=$path/$word ;; esac\n"
        "        at=$((at + 1))\n"
        "    done\n"
        "    case \"$path\" in\n",
        path_pattern(root));
    each(root, "", [&](const CommandTree& command, const std::string& path) {
        text += fmt::format("        {}) options={} commands={} ;;\n", in_quotes(path),
                            in_quotes(all_options(command)), in_quotes(all_commands(command)));
    });
    text += "    esac\n    case \"$path $before\" in\n";
    each(root, "", [&](const CommandTree& command, const std::string& path) {
        for (const OptionText& option : command.options)
            if (!option.choices.empty() && !option.names.empty()) {
                std::vector<std::string> patterns;
                for (const std::string& name : option.names) patterns.push_back(in_quotes(path + " " + name));
                text += fmt::format("        {}) choices={} ;;\n", fmt::join(patterns, "|"),
                                    in_quotes(joined(option.choices)));
            }
    });
    return text +
           "    esac\n"
           "    if [ -n \"$choices\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
           "    elif [ \"${current#-}\" != \"$current\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
           "    fi\n"
           "}\n"
           "complete -o default -F _viridian viridian\n";
}

std::string zsh_completion(const CommandTree& root) {
    std::string text = fmt::format(
        "#compdef viridian\n"
        "# Completion of viridian's command line for zsh; `viridian completion zsh` writes it.\n"
        "_viridian() {{\n"
        "    local path_so_far= word\n"
        "    local -a options commands choices\n"
        "    for word in ${{words[2,CURRENT-1]}}; do\n"
        "        [[ $word == -- ]] && {{ _normal; return }}\n"
        "        case \"$path_so_far/$word\" in ({}) path_so_far=$path_so_far/$word ;; esac\n"
        "    done\n"
        "    case \"$path_so_far\" in\n",
        path_pattern(root));
    // `_describe` splits an entry at its first colon that has no backslash.
    const auto entry = [](std::string_view word, std::string_view description) {
        std::string out;
        for (const char c : word) out += c == ':' ? std::string("\\:") : std::string(1, c);
        return in_quotes(fmt::format("{}:{}", out, first_line(description)));
    };
    each(root, "", [&](const CommandTree& command, const std::string& path) {
        text += fmt::format("        ({})\n            options=(", in_quotes(path));
        for (const OptionText& option : command.options)
            for (const std::string& name : option.names) text += entry(name, option.description) + " ";
        text += ")\n            commands=(";
        for (const CommandTree& one : command.below) text += entry(one.name, one.summary) + " ";
        text += ") ;;\n";
    });
    text += "    esac\n    case \"$path_so_far ${words[CURRENT-1]}\" in\n";
    each(root, "", [&](const CommandTree& command, const std::string& path) {
        for (const OptionText& option : command.options)
            for (const std::string& name : option.names)
                if (!option.choices.empty())
                    text += fmt::format("        ({}) choices=({}) ;;\n", in_quotes(path + " " + name),
                                        joined(option.choices));
    });
    return text +
           "    esac\n"
           "    if (( ${#choices} )); then compadd -a choices\n"
           "    elif [[ $PREFIX == -* ]]; then _describe option options\n"
           "    elif (( ${#commands} )); then _describe command commands || _files\n"
           "    else _files\n"
           "    fi\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _viridian ]; then _viridian; else compdef _viridian viridian; fi\n";
}

std::string fish_completion(const CommandTree& root) {
    const auto in_fish = [](std::string_view text) {
        std::string out = "'";
        for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        return out + "'";
    };
    std::string paths;
    each(root, "", [&](const CommandTree&, const std::string& path) {
        if (!path.empty()) paths += " " + path;
    });
    std::string text = fmt::format(
        "# Completion of viridian's command line for fish; `viridian completion fish` writes it.\n"
        "function __viridian_at\n"
        "    set -l path ''\n"
        "    for word in (commandline -opc)[2..-1]\n"
        "        if contains -- \"$path/$word\"{}\n"
        "            set path \"$path/$word\"\n"
        "        end\n"
        "    end\n"
        "    test \"$path\" = \"$argv[1]\"\n"
        "end\n",
        paths);
    each(root, "", [&](const CommandTree& command, const std::string& path) {
        const std::string head = fmt::format("complete -c viridian -n \"__viridian_at '{}'\"", path);
        for (const CommandTree& one : command.below)
            text += fmt::format("{} -a {} -d {}\n", head, one.name, in_fish(first_line(one.summary)));
        for (const OptionText& option : command.options) {
            if (option.names.empty()) continue;
            text += head;
            for (const std::string& name : option.names)
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.choices.empty())
                text += " -x -a " + in_fish(joined(option.choices));
            else if (!option.value.empty())
                text += " -r";
            text += " -d " + in_fish(first_line(option.description)) + "\n";
        }
    });
    return text;
}

}  // namespace viridian::cli
