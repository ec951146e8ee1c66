#pragma once
// Reads the equation of an Einsum as one letter for each axis, which shows the products of matrices in it.
#include <map>

#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Returns whether `c` occurs in `letters`.
[[nodiscard]] inline bool has_letter(const std::string& letters, char c) {
    return letters.find(c) != std::string::npos;
}

// An EinsumEquation has the letters of each operand and of the result.
struct EinsumEquation {
    std::vector<std::string> terms;  // one for each operand
    std::string output;  // if it is implicit: the axes of "...", then the letters that occur once, sorted

    // Parses `text` for operands with these dims. The axes of "..." become digits, the last of them 0.
    // Returns none for a diagonal, for more than ten such axes, and if `text` is no equation of such
    // operands.
    static std::optional<EinsumEquation> of(std::string text, const std::vector<Dims>& operands);
};

// EinsumExtents know the extent that every letter stands for.
class EinsumExtents {
  public:
    // Adds the letters of an operand. Returns false if a letter stands for two extents; an axis of "..." may
    // be 1 in one operand and more in another.
    bool add(const std::string& term, const Dims& dims);
    [[nodiscard]] std::int64_t of(char c) const { return known_.at(c); }
    [[nodiscard]] Dims of(const std::string& letters) const;
    // Returns the product of the extents of `letters`.
    [[nodiscard]] std::int64_t product(const std::string& letters) const;
    // Returns that product as a double, which cannot overflow.
    [[nodiscard]] double size(const std::string& letters) const;

  private:
    std::map<char, std::int64_t> known_;
};

// Returns which two operands to multiply first, second and so on: those with the smallest product, which then
// takes the place of the first. Returns none if a product is larger than every operand and the result.
[[nodiscard]] std::optional<std::vector<std::array<std::size_t, 2>>> einsum_pairs(
    const EinsumEquation& equation, const EinsumExtents& extents);

// Returns the letters that the output or a term other than `a` and `b` reads.
[[nodiscard]] std::string read_beside(const EinsumEquation& equation, std::size_t a, std::size_t b);

}  // namespace viridian::rewrite
