#pragma once
// Declares handles with which a command declares its options to CLI11. Only options.cpp and run_cli.cpp
// include CLI11's own header, because the compiler needs eight seconds to read it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "viridian/cli/shell/command_tree.hpp"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace viridian::cli {

// A Constraint is a condition on the value of an option. If the value breaks it, parsing fails with a
// message.
class Constraint {
  public:
    explicit Constraint(std::shared_ptr<const CLI::Validator> validator) : validator_(std::move(validator)) {}
    [[nodiscard]] const CLI::Validator& validator() const { return *validator_; }

  private:
    std::shared_ptr<const CLI::Validator> validator_;
};

// These return constraints. `in_range`: a number from `low` to `high`, both included; T is int, std::int64_t
// or double.
template <class T>
[[nodiscard]] Constraint in_range(T low, T high);
// `one_of`: one of `words`.
[[nodiscard]] Constraint one_of(const std::vector<std::string>& words);
// `positive_number`: a finite number above 0.
[[nodiscard]] Constraint positive_number();

// An Option is a handle on one option of a command, valid as long as the command line lives.
class Option {
  public:
    explicit Option(CLI::Option* option) : option_(option) {}

    // These change the option and return it again, so that calls can be chained.
    Option required(bool needed = true);
    Option check(const Constraint& constraint);
    Option capture_default_str();      // --help shows the present value as the default
    Option delimiter(char separator);  // splits one word into several values
    Option excludes(Option other);
    Option needs(Option other);
    Option needs(const std::string& other);  // the other option by its name
    Option description(const std::string& text);
    [[nodiscard]] std::size_t count() const;  // how many times it was given

  private:
    CLI::Option* option_;
};

// An App is a handle on a command or subcommand, valid as long as the command line lives.
class App {
  public:
    explicit App(CLI::App* app) : app_(app) {}

    // Adds an option (`names` begin with dashes: "-o,--output") or a positional argument (`names` has none).
    // Its value is stored in `variable`, which must outlive parsing. T is one of the types listed in
    // options.cpp.
    template <class T>
    Option add_option(const std::string& names, T& variable, const std::string& description = "");
    Option add_flag(const std::string& names, bool& variable, const std::string& description = "");
    App add_subcommand(const std::string& name, const std::string& summary);
    [[nodiscard]] Option get_option(const std::string& name) const;

    void footer(const std::string& text);
    void callback(const std::function<void()>& action);  // runs after parsing, if the command is named
    void require_subcommand(std::size_t least, std::size_t most);
    void fallthrough();                      // options of the parent are taken after the subcommand too
    [[nodiscard]] CommandTree tree() const;  // of the whole program, whichever command this is
    void positionals_at_end();               // nothing after the first positional is an option

  private:
    CLI::App* app_;
};

}  // namespace viridian::cli
