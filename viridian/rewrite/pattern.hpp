#pragma once
// Patterns read like the expression that they match:
//
//     const Pattern x = any("x");
//     const Pattern erf = 0.5 * (x * (result_of(op::Erf, {x / sqrt2}) + 1));
//
// A name that occurs twice must be the same value. Add and Mul match in either order. A number matches a
// constant of one element to five digits, and `x / 2` also matches x · 0.5.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// A Match says which values and nodes of a graph a pattern matched.
struct Match {
    std::map<std::string, ValueId, std::less<>> values;  // by name
    std::vector<NodeId> nodes;                           // all matched nodes, each once
    [[nodiscard]] ValueId operator[](std::string_view name) const {
        const auto found = values.find(name);
        return found == values.end() ? ValueId::none : found->second;
    }
};

// A Pattern is an expression with names for its values.
class Pattern {
  public:
    struct Term;
    Pattern(double number);  // matches a constant of one element
    explicit Pattern(std::shared_ptr<const Term> term) : term_(std::move(term)) {}
    [[nodiscard]] const Term& term() const { return *term_; }
    // Returns this pattern, which also stores the value that it matches under `name`.
    [[nodiscard]] Pattern as(std::string name) const;

  private:
    std::shared_ptr<const Term> term_;
};

[[nodiscard]] Pattern any(std::string name);       // matches any value
[[nodiscard]] Pattern constant(std::string name);  // matches any constant
[[nodiscard]] Pattern number(std::string name);    // matches any constant of one element
// Matches the result of an operator whose inputs match `inputs`.
[[nodiscard]] Pattern result_of(graph::KnownOperator op, std::vector<Pattern> inputs);
// Matches the first of `patterns` that matches.
[[nodiscard]] Pattern either(std::vector<Pattern> patterns);
[[nodiscard]] Pattern operator+(const Pattern& a, const Pattern& b);
[[nodiscard]] Pattern operator-(const Pattern& a, const Pattern& b);
[[nodiscard]] Pattern operator*(const Pattern& a, const Pattern& b);
[[nodiscard]] Pattern operator/(const Pattern& a, const Pattern& b);

// Matches the expression that ends in node `at`. There is no match if something outside the expression reads
// a value inside it, because then both sides would be computed.
[[nodiscard]] std::optional<Match> match(const Editor& editor, const Pattern& pattern, NodeId at);

}  // namespace viridian::rewrite
