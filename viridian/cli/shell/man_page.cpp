#include "viridian/cli/shell/man_page.hpp"

#include <algorithm>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian::cli {
namespace {

// Text that man(7) shows as it is: no line begins with a command, and dashes stay dashes.
std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
        out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    }
    return out;
}

std::string upper(std::string_view text) {
    std::string out(text);
    std::ranges::transform(
        out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return out;
}

// Two spaces before a line mean that it is to be shown as it is.
std::string footer_text(std::string_view footer) {
    std::string out;
    bool plain = false;
    while (!footer.empty()) {
        const std::size_t end = std::min(footer.find('\n'), footer.size());
        const std::string_view line = footer.substr(0, end);
        footer.remove_prefix(std::min(end + 1, footer.size()));
        const bool indented = line.starts_with("  ");
        if (indented != plain) out += indented ? ".PP\n.nf\n" : ".fi\n";
        plain = indented;
        if (line == "Example:") continue;
        out += line.empty() ? std::string(".PP\n") : roff(line) + "\n";
    }
    return plain ? out + ".fi\n" : out;
}

std::string option_text(const OptionText& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back(fmt::format("\\fB{}\\fR", roff(name)));
    std::string text = ".TP\n" + (option.names.empty() ? fmt::format("\\fI{}\\fR", roff(option.argument))
                                                       : fmt::format("{}", fmt::join(names, ", ")));
    if (!option.value.empty() && !option.names.empty())
        text += fmt::format(" \\fI{}\\fR", roff(option.value));
    text += "\n" + roff(option.description);
    if (!option.choices.empty()) text += roff(fmt::format(" (one of {})", fmt::join(option.choices, ", ")));
    if (option.required) text += " (required)";
    return text + "\n";
}

const CommandTree& found(const CommandTree& root, const std::vector<std::string>& path) {
    const CommandTree* at = &root;
    for (const std::string& name : path) at = &*std::ranges::find(at->below, name, &CommandTree::name);
    return *at;
}

void add_paths(const CommandTree& command, const std::vector<std::string>& path,
               std::vector<std::vector<std::string>>& out) {
    out.push_back(path);
    for (const CommandTree& one : command.below) {
        std::vector<std::string> next = path;
        next.push_back(one.name);
        add_paths(one, next, out);
    }
}

}  // namespace

std::string man_name(const std::vector<std::string>& path) {
    std::string name = "viridian";
    for (const std::string& part : path) name += "-" + part;
    return name;
}

std::vector<std::vector<std::string>> command_paths(const CommandTree& root) {
    std::vector<std::vector<std::string>> out;
    add_paths(root, {}, out);
    return out;
}

std::string man_page(const CommandTree& root, const std::vector<std::string>& path,
                     const std::string& version) {
    const CommandTree& command = found(root, path);
    const std::string name = man_name(path);
    std::string synopsis = "\\fBviridian\\fR";
    for (const std::string& part : path) synopsis += fmt::format(" \\fB{}\\fR", part);
    if (!command.below.empty()) synopsis += " [\\fICOMMAND\\fR]";
    synopsis += " [\\fIOPTIONS\\fR]";
    for (const OptionText& option : command.options)
        if (option.names.empty())
            synopsis += (option.required ? " \\fI" : " [\\fI") + roff(option.argument) +
                        (option.required ? "\\fR" : "\\fR]");
    std::string text = fmt::format(
        ".TH {} 1 \"\" \"viridian {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
        upper(name), version, roff(name), roff(command.summary), synopsis);
    if (!command.below.empty()) {
        text += ".SH COMMANDS\n";
        for (const CommandTree& one : command.below)
            text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", one.name, roff(one.summary));
    }
    if (!command.options.empty()) text += ".SH OPTIONS\n";
    for (const OptionText& option : command.options) text += option_text(option);
    if (!command.footer.empty()) text += ".SH EXAMPLES\n" + footer_text(command.footer);
    text +=
        ".SH EXIT STATUS\n0 if all went well, 1 if the input or an option is wrong, 2 if this machine cannot "
        "do it,\n"
        "3 for a bug of Viridian.\n";
    if (!path.empty())
        text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", roff(man_name({path.begin(), path.end() - 1})));
    return text;
}

}  // namespace viridian::cli
