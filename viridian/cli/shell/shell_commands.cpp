// `viridian completion SHELL` and `viridian man [COMMAND...]`: what a shell and man(1) know about the
// commands.
#include <algorithm>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/overview.hpp"
#include "viridian/cli/shell/completion.hpp"
#include "viridian/cli/shell/man_page.hpp"

namespace viridian::cli {
namespace {

Answer complete(const CommandTree& root, const std::string& shell) {
    const std::string text = shell == "bash"  ? bash_completion(root)
                             : shell == "zsh" ? zsh_completion(root)
                                              : fish_completion(root);
    return {{{"schema", "viridian.completion/1"}, {"shell", shell}, {"script", text}}, text, 0};
}

struct ManOptions {
    std::vector<std::string> path;
    std::string folder;
};

Result<Answer> write_pages(const CommandTree& root, const ManOptions& options) {
    Answer answer{{{"schema", "viridian.man/1"}, {"pages", Json::array()}}, "", 0};
    std::error_code fault;
    std::filesystem::create_directories(options.folder, fault);
    for (const std::vector<std::string>& path : command_paths(root)) {
        const std::string file = (Path(options.folder) / (man_name(path) + ".1")).string();
        VIRIDIAN_TRY(write_file(file, man_page(root, path, version_number())));
        answer.json["pages"].push_back(file);
    }
    answer.text =
        fmt::format("wrote {} into {}\n", counted(answer.json["pages"].size(), "page"), options.folder);
    return answer;
}

Result<Answer> show_page(const CommandTree& root, const ManOptions& options) {
    const CommandTree* at = &root;
    for (const std::string& name : options.path) {
        const auto next = std::ranges::find(at->below, name, &CommandTree::name);
        if (next == at->below.end())
            return fail(ErrorCode::invalid_argument, "`viridian help` lists the commands",
                        "there is no command `{}`", fmt::join(options.path, " "));
        at = &*next;
    }
    const std::string text = man_page(root, options.path, version_number());
    return Answer{{{"schema", "viridian.man/1"}, {"name", man_name(options.path)}, {"page", text}}, text, 0};
}

}  // namespace

Command completion_command() {
    return {"completion", "Completion of the command line, for a shell",
            "viridian completion bash >~/.local/share/bash-completion/completions/viridian", [](App app) {
                const auto shell = std::make_shared<std::string>();
                app.add_option("SHELL", *shell, "bash, zsh or fish")
                    .required()
                    .check(one_of({"bash", "zsh", "fish"}));
                return [app, shell]() -> Result<Answer> { return complete(app.tree(), *shell); };
            }};
}

Command man_command() {
    return {"man", "The manual page of the program or of a command",
            "viridian man account diff | man -l -\n  viridian man --into ~/.local/share/man/man1",
            [](App app) {
                const auto options = std::make_shared<ManOptions>();
                app.add_option("COMMAND", options->path,
                               "The command, as `account diff`; without it the program");
                app.add_option("--into", options->folder, "Write the pages of all commands into this folder");
                return [app, options]() -> Result<Answer> {
                    const CommandTree root = app.tree();
                    return options->folder.empty() ? show_page(root, *options) : write_pages(root, *options);
                };
            }};
}

}  // namespace viridian::cli
