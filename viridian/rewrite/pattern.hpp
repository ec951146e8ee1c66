#pragma once
// Left sides of rules that read like the expression they match:
//
//     const Pattern x = any("x");
//     const Pattern erf = 0.5 * (x * (op("Erf", x / sqrt2) + 1));
//
// A name that occurs twice must be the same value. Add and Mul match in either order; numbers match constants
// of one element to five digits, `x / 2` also x · 0.5.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

struct Match {
    std::map<std::string, ValueId, std::less<>> values;  // by name
    std::vector<NodeId> nodes;                           // matched, each once
    [[nodiscard]] ValueId operator[](std::string_view name) const {
        const auto found = values.find(name);
        return found == values.end() ? ValueId::none : found->second;
    }
};

class Pattern {
  public:
    struct Term;
    Pattern(double number);  // a constant of one element
    explicit Pattern(std::shared_ptr<const Term> term) : term_(std::move(term)) {}
    [[nodiscard]] const Term& term() const { return *term_; }
    // The same pattern whose value is remembered by name.
    [[nodiscard]] Pattern as(std::string name) const;

  private:
    std::shared_ptr<const Term> term_;
};

[[nodiscard]] Pattern any(std::string name);       // any value
[[nodiscard]] Pattern constant(std::string name);  // any constant
[[nodiscard]] Pattern number(std::string name);    // any constant of one element
[[nodiscard]] Pattern op(std::string op, std::vector<Pattern> inputs);
// The first of several that matches.
[[nodiscard]] Pattern either(std::vector<Pattern> patterns);
[[nodiscard]] Pattern operator+(const Pattern& a, const Pattern& b);
[[nodiscard]] Pattern operator-(const Pattern& a, const Pattern& b);
[[nodiscard]] Pattern operator*(const Pattern& a, const Pattern& b);
[[nodiscard]] Pattern operator/(const Pattern& a, const Pattern& b);

// Matches the expression that ends in node `at`. Only where every value inside it is read by nothing outside,
// since otherwise the replacement would be computed beside it.
[[nodiscard]] std::optional<Match> match(const Editor& editor, const Pattern& pattern, NodeId at);

}  // namespace viridian::rewrite
