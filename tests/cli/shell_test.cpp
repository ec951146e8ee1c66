// Completions and manual pages, held against what `--help` says.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/meter/fake_tree.hpp"
#include "viridian/base/file.hpp"

namespace viridian::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// The commands with their options and subcommands as `--help` prints them.
struct HelpOf {
    std::vector<std::string> path, options, below;
};

// The first group of `pattern` in each line that it fits.
std::vector<std::string> all_matches(const std::string& text, const char* pattern) {
    std::vector<std::string> out;
    const std::regex expression(pattern);
    std::istringstream lines(text);
    std::smatch found;
    for (std::string line; std::getline(lines, line);)
        if (std::regex_search(line, found, expression)) out.push_back(found[1]);
    return out;
}

void read_help(const std::vector<std::string>& path, std::vector<HelpOf>& out) {
    std::vector<std::string> words = path;
    words.emplace_back("--help");
    const std::string text = run(words).out;
    HelpOf help{path, all_matches(text, "^  (?:-[a-z],)?(--[a-z0-9-]+)"), {}};
    const std::size_t list = path.empty() ? 0 : text.find("Subcommands:");
    if (list != std::string::npos)
        help.below =
            all_matches(text.substr(list, text.find("Example:", list) - list), "^  ([a-z][a-z0-9-]*) ");
    out.push_back(help);
    for (const std::string& name : help.below) {
        std::vector<std::string> next = path;
        next.push_back(name);
        read_help(next, out);
    }
}

const std::vector<HelpOf>& every_help() {
    static const std::vector<HelpOf> all = [] {
        std::vector<HelpOf> out;
        read_help({}, out);
        return out;
    }();
    return all;
}

std::string spoken(const std::vector<std::string>& path) { return fmt::format("{}", fmt::join(path, " ")); }

TEST(Shell, HelpIsRead) {
    EXPECT_GT(every_help().size(), 20U);
    std::map<std::string, HelpOf> by_path;
    for (const HelpOf& help : every_help()) by_path[spoken(help.path)] = help;
    EXPECT_THAT(by_path["pipeline plan"].options, Contains("--schedule"));
    EXPECT_THAT(by_path["account"].below, Contains("diff"));
}

// What bash offers for a line whose last word is not finished.
std::vector<std::string> offered(const std::string& script, const std::vector<std::string>& words) {
    std::string program = fmt::format("source {}; COMP_WORDS=(", script);
    for (const std::string& word : words) program += fmt::format("'{}' ", word);
    program +=
        fmt::format("); COMP_CWORD={}; _viridian; printf '%s\\n' \"${{COMPREPLY[@]}}\"", words.size() - 1);
    const std::string command = fmt::format("bash --norc -c \"$(cat <<'END'\n{}\nEND\n)\"", program);
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> part{};
    for (std::size_t size = 0; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        text.append(part.data(), size);
    EXPECT_EQ(::pclose(pipe), 0) << text;
    return all_matches(text, "^(\\S+)$");
}

TEST(Shell, BashOffersWhatHelpLists) {
    const meter::tests::FakeTree tree;
    const std::string script = (tree.root() / "viridian.bash").string();
    std::ofstream(script) << run({"completion", "bash"}).out;
    for (const HelpOf& help : every_help()) {
        std::vector<std::string> words = {"viridian"};
        words.insert(words.end(), help.path.begin(), help.path.end());
        words.emplace_back("--");
        const std::vector<std::string> options = offered(script, words);
        for (const std::string& option : help.options)
            EXPECT_THAT(options, Contains(option)) << spoken(help.path);
        words.back() = "";
        const std::vector<std::string> commands = offered(script, words);
        for (const std::string& name : help.below) EXPECT_THAT(commands, Contains(name)) << spoken(help.path);
    }
    EXPECT_THAT(offered(script, {"viridian", "account", "--by", "m"}), ElementsAre("module"));
    EXPECT_THAT(offered(script, {"viridian", "--json", "pipe"}), ElementsAre("pipeline"));
    EXPECT_THAT(offered(script, {"viridian", "account", "diff", "--js"}), ElementsAre("--json"));
    EXPECT_THAT(offered(script, {"viridian", "record", "-o", "run", "--", "--"}), testing::IsEmpty());
}

TEST(Shell, OtherShellsGetEveryOptionToo) {
    const std::string zsh = run({"completion", "zsh"}).out, fish = run({"completion", "fish"}).out;
    for (const HelpOf& help : every_help()) {
        std::string path;
        for (const std::string& name : help.path) path += "/" + name;
        const std::size_t at = zsh.find("('" + path + "')\n            options=(");
        ASSERT_NE(at, std::string::npos) << path;
        const std::string part = zsh.substr(at, zsh.find(";;", at) - at);
        for (const std::string& option : help.options) {
            EXPECT_THAT(part, HasSubstr("'" + option + ":")) << path;
            EXPECT_THAT(fish,
                        testing::ContainsRegex("__viridian_at '" + path + "'.* -l " + option.substr(2) + " "))
                << path;
        }
        for (const std::string& name : help.below) EXPECT_THAT(part, HasSubstr("'" + name + ":")) << path;
    }
}

TEST(Shell, ManualPagesHoldWhatHelpLists) {
    const meter::tests::FakeTree tree;
    const std::string folder = (tree.root() / "man1").string();
    const Outcome wrote = run({"man", "--into", folder});
    EXPECT_EQ(wrote.code, 0) << wrote.err;
    EXPECT_THAT(wrote.out, HasSubstr(fmt::format("wrote {} pages", every_help().size())));
    const auto in_roff = [](const std::string& word) {
        return std::regex_replace(word, std::regex("-"), "\\-");
    };
    for (const HelpOf& help : every_help()) {
        std::string file = folder + "/viridian";
        for (const std::string& name : help.path) file += "-" + name;
        const auto page = read_file(file + ".1");
        ASSERT_TRUE(page.ok()) << file;
        for (const std::string& option : help.options)
            EXPECT_THAT(*page, HasSubstr("\\fB" + in_roff(option) + "\\fR")) << file;
        for (const std::string& name : help.below)
            EXPECT_THAT(*page, HasSubstr("\\fB" + name + "\\fR")) << file;
    }
    EXPECT_EQ(run({"man", "account", "diff"}).out, *read_file(folder + "/viridian-account-diff.1"));
    EXPECT_EQ(run({"man", "acount"}).err,
              "viridian: there is no command `acount`. `viridian help` lists the commands.\n");
}

TEST(Shell, QuietAndVerboseAreTakenAnywhere) {
    const Outcome verbose = run({"--verbose", "zoo", "--json"}), after = run({"zoo", "--json", "-v"});
    EXPECT_THAT(verbose.err, HasSubstr("took "));
    EXPECT_THAT(after.err, HasSubstr(" at most"));
    EXPECT_EQ(verbose.out, run({"zoo", "--json"}).out);
    EXPECT_EQ(run({"-q", "zoo"}).err, "");
    EXPECT_EQ(run({"zoo", "-q", "-v"}).code, 1);
    EXPECT_EQ(run({"account", "top", "-q", "missing.json"}).code, 1);
    EXPECT_EQ(run({"-q", "--json"}).out, run({"--json"}).out);
}

}  // namespace
}  // namespace viridian::cli
