#pragma once
// An Einsum's equation with one letter per axis, so that a product can be read off it.
#include <map>

#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

[[nodiscard]] inline bool has(const std::string& letters, char c) {
    return letters.find(c) != std::string::npos;
}

struct EinsumEquation {
    std::vector<std::string> terms;
    std::string output;  // the implicit one: the axes of "...", then the letters that occur once, sorted

    // The axes of "..." are digits, 0 the last. None for a diagonal, more than ten such axes, and what is no
    // equation of operands with these dims.
    static std::optional<EinsumEquation> of(std::string text, const std::vector<Dims>& operands);
};

class EinsumExtents {
  public:
    // False where a letter stands for two extents; an axis of "..." may be 1 and another.
    bool add(const std::string& term, const Dims& dims);
    [[nodiscard]] std::int64_t of(char c) const { return known_.at(c); }
    [[nodiscard]] Dims of(const std::string& letters) const;
    [[nodiscard]] std::int64_t product(const std::string& letters) const;
    [[nodiscard]] double size(const std::string& letters) const;  // that product, however large

  private:
    std::map<char, std::int64_t> known_;
};

// Which two operands to multiply, time after time, so that what is made is smallest: their product takes the
// place of the first. None where one between is larger than every operand and the result.
[[nodiscard]] std::optional<std::vector<std::array<std::size_t, 2>>> einsum_pairs(
    const EinsumEquation& equation, const EinsumExtents& extents);

// The letters that something but terms a and b reads.
[[nodiscard]] std::string read_beside(const EinsumEquation& equation, std::size_t a, std::size_t b);

}  // namespace viridian::rewrite
